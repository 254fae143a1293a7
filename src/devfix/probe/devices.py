"""How many GPUs the world has, which one is current in each thread, and what a device's name resolves to.

A simulated `cuda:i` is `lazy:i` for PyTorch's C++: that device has a guard in every build, and no fast path tests for
it.
"""

from __future__ import annotations

import threading
from typing import Any

import torch

from . import messages

CUDA: list[torch.device] = []
LAZY: list[torch.device] = []
CPU = torch.device("cpu")


class _Current(threading.local):
    index = 0


_current = _Current()


def install(gpus: int, current: int) -> None:
    """Make a world of `gpus` GPUs; `current` is the index current in the calling thread, 0 is in all new ones."""
    CUDA[:] = [torch.device("cuda", index) for index in range(gpus)]
    LAZY[:] = [torch.device("lazy", index) for index in range(gpus)]
    _current.index = current
    _Use.begun = _Use.forbidden = False


def count() -> int:
    """The number of simulated GPUs."""
    return len(CUDA)


def current() -> int:
    """The index of the device that is current in this thread."""
    return _current.index


def make_current(index: int) -> None:
    """Set the current device of this thread; a negative index changes nothing, as in CUDA."""
    if index >= 0:
        _current.index = checked(index)


def forget_threads() -> None:
    """Make GPU 0 current in every thread but the calling one."""
    global _current
    index = _current.index
    _current = _Current()
    _current.index = index


def checked(index: int) -> int:
    """The index itself, or CUDA's error for an ordinal that does not exist."""
    if not 0 <= index < len(CUDA):
        raise messages.invalid_ordinal(index)
    return index


class _Use:
    begun = False
    forbidden = False


def use() -> None:
    """Note that this process uses CUDA; a child forked from one that did may not."""
    if _Use.forbidden:
        raise messages.bad_fork()
    _Use.begun = True


def used() -> bool:
    """Whether this process has used CUDA."""
    return _Use.begun and not _Use.forbidden


def forbidden() -> bool:
    """Whether this process was forked from one that had used CUDA."""
    return _Use.forbidden


def after_fork() -> None:
    """Forbid CUDA in a child whose parent has used it."""
    _Use.forbidden = _Use.forbidden or (_Use.begun and bool(CUDA))


def index_of(device: Any) -> int | None:
    """The index of the simulated GPU that a torch.device names (None for any other device)."""
    kind = device.type
    if kind == "lazy":
        return int(device.index)
    if kind == "cuda":
        if not CUDA:  # C++ asks once in a process whether there is CUDA, and may have asked in another world
            torch.cuda.init()
            return None
        use()
        return _current.index if device.index is None else checked(device.index)
    return None


def spoken(device: Any) -> int | None:
    """As `index_of`, for what users write: a torch.device, a string, or an int (an accelerator's index)."""
    if isinstance(device, int) and not isinstance(device, bool):
        use()
        return checked(device)
    if isinstance(device, str):
        if not device.startswith("cuda"):
            return None
        device = torch.device(device)
    return index_of(device) if isinstance(device, torch.device) else None


def inner(device: Any) -> Any:
    """The device that PyTorch's C++ is told: `lazy:i` for a GPU, anything else unchanged."""
    index = spoken(device)
    return device if index is None else LAZY[index]


def outer(device: torch.device) -> torch.device:
    """The device that Python is told: `cuda:i` for `lazy:i`, anything else unchanged."""
    return CUDA[device.index] if device.type == "lazy" else device
