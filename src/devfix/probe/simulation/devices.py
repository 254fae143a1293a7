"""How many GPUs the world has, which one is current in each thread, and what a device's name resolves to.

A simulated `cuda:i` is `lazy:i` for PyTorch's C++: that device has a guard in every build, and no fast path tests for
it.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import torch

from . import messages
from .visible_devices import NAME, visible

CUDA: list[torch.device] = []  # those that the process sees
LAZY: list[torch.device] = []
CPU = torch.device("cpu")
_parsed = torch.device  # a world replaces it by a class in Python, which costs more


class _Current(threading.local):
    index = 0


_current = _Current()


def install(gpus: int, current: int) -> None:
    """Make a world of `gpus` GPUs; `current` is the index current in the calling thread, 0 is in all new ones."""
    CUDA.clear()
    LAZY.clear()
    _current.index = current
    _Use.begun = _Use.forbidden = _Use.is_settled = False
    _Asked.ordinals = _Asked.processes = 0
    _Use.installed = gpus
    _look()


def _look() -> None:
    """Read `CUDA_VISIBLE_DEVICES` anew: until CUDA starts, the program may still set it."""
    seen = len(visible(os.environ.get(NAME), _Use.installed))
    if seen != len(CUDA):
        CUDA[:] = [torch.device("cuda", index) for index in range(seen)]
        LAZY[:] = [torch.device("lazy", index) for index in range(seen)]
        if _current.index >= seen:
            _current.index = 0


def count() -> int:
    """The number of simulated GPUs that the process sees; it settles once CUDA has started."""
    if not _Use.is_settled:
        _look()
    return len(CUDA)


def installed() -> int:
    """The number of simulated GPUs of the world, also of those that `CUDA_VISIBLE_DEVICES` hides."""
    return _Use.installed


def available() -> bool:
    """Whether the process sees a GPU: the driver starts to answer this, and reads no environment any more."""
    seen = count() > 0
    _Use.is_settled = True
    return seen


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
        _Asked.ordinals = max(_Asked.ordinals, index + 1, _local_processes())
        raise messages.invalid_ordinal(index)
    return index


class _Asked:
    ordinals = 0
    processes = 0


def _local_processes() -> int:
    """Return how many processes a launcher such as torchrun has started on this machine, 0 where none did."""
    text = os.environ.get("LOCAL_WORLD_SIZE", "")
    return int(text) if text.isdecimal() else 0


def need_one_each(processes: int) -> None:
    """Note that NCCL joins this many processes of this machine, each of which needs a GPU of its own."""
    if processes > len(CUDA) > 0:
        _Asked.processes = max(_Asked.processes, processes)


def asked() -> dict[str, int]:
    """Return how many GPUs the program asked for beyond those that there are: by their numbers, and by its processes.

    Each is 0 where it asked for no more than there are.
    """
    return {"ordinals": _Asked.ordinals, "processes": _Asked.processes}


class _Use:
    begun = False
    forbidden = False
    is_settled = False
    installed = 0


def use() -> None:
    """Note that this process uses CUDA; a child forked from one that did may not."""
    if _Use.forbidden:
        raise messages.bad_fork()
    if _Use.begun:
        return
    if not available() and _Use.installed:
        raise messages.no_gpus()
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
        if not _Use.is_settled:
            available()
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
        device = _parsed(device)
    return index_of(device) if isinstance(device, _parsed) else None


def inner(device: Any) -> Any:
    """The device that PyTorch's C++ is told: `lazy:i` for a GPU, anything else unchanged."""
    index = spoken(device)
    return device if index is None else LAZY[index]


def outer(device: torch.device) -> torch.device:
    """The device that Python is told: `cuda:i` for `lazy:i`, anything else unchanged."""
    return CUDA[device.index] if device.type == "lazy" else device
