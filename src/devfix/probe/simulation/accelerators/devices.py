"""The number of GPUs in the world, the current one of each thread, and the resolution of device names.

A simulated `cuda:i` (or `mps:0`, `xpu:i`: a world has one kind) is `lazy:i` for PyTorch's C++: every build has a guard
for that device, and no fast path checks for it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import torch

from . import kinds, messages
from .visible_devices import NAME, needed_gpus, visible

SHOWN: list[torch.device] = []  # those that the process sees, as Python names them
LAZY: list[torch.device] = []
CPU = torch.device("cpu")
_at_first_use: list[Callable[[], None]] = []
_DEVICE = type(CPU)  # programs see another class in a world


class _Current(threading.local):
    index = 0


_current = _Current()


def install(gpus: int, current: int, kind: str = "cuda") -> None:
    """Set up a world of `gpus` devices of a kind; `current` is current in the calling thread, 0 in all new ones."""
    kinds.use(kind)
    SHOWN.clear()
    LAZY.clear()
    _current.index = current
    _Use.begun = _Use.forbidden = _Use.is_settled = False
    _Asked.ordinals = _Asked.processes = _Asked.listed = 0
    _at_first_use.clear()
    _Use.installed = gpus
    _look()


def _look() -> None:
    """Read `CUDA_VISIBLE_DEVICES` again: the program may set it until CUDA is initialized."""
    kind = kinds.now()
    text = os.environ.get(NAME) if kind.is_cuda else None
    _Asked.listed = needed_gpus(text, _Use.installed)
    seen = len(visible(text, _Use.installed))
    if seen != len(SHOWN):
        SHOWN[:] = [torch.device(kind.name, index) for index in range(seen)]
        LAZY[:] = [torch.device("lazy", index) for index in range(seen)]
        if _current.index >= seen:
            _current.index = 0


def count() -> int:
    """Return the number of simulated GPUs that the process sees, which is final once CUDA is initialized."""
    if not _Use.is_settled:
        _look()
    return len(SHOWN)


def installed_gpus() -> int:
    """Return the number of simulated GPUs of the world, including those hidden by `CUDA_VISIBLE_DEVICES`."""
    return _Use.installed


def available() -> bool:
    """Return whether the process sees a GPU; this starts the driver, which ignores later changes of the environment."""
    seen = count() > 0
    _Use.is_settled = True
    return seen


def current() -> int:
    """Return the index of the current device of this thread."""
    return _current.index


def make_current(index: int) -> None:
    """Set the current device of this thread; a negative index changes nothing, as in CUDA."""
    if index >= 0:
        _current.index = check_index(index)


def forget_threads() -> None:
    """Make GPU 0 current in every thread except the calling one."""
    global _current
    index = _current.index
    _current = _Current()
    _current.index = index


def check_index(index: int) -> int:
    """Return the index. Raises PyTorch's error for an ordinal that does not exist."""
    if not exists(index):
        raise messages.invalid_ordinal(index, len(SHOWN))
    return index


def exists(index: int) -> bool:
    """Return whether there is a GPU with an index; otherwise record that the program asked for it."""
    if 0 <= index < len(SHOWN):
        return True
    _Asked.ordinals = max(_Asked.ordinals, index + 1, _local_processes())
    return False


class _Asked:
    ordinals = 0
    processes = 0
    listed = 0


def _local_processes() -> int:
    """Return how many processes a launcher such as torchrun has started on this machine, 0 without one."""
    text = os.environ.get("LOCAL_WORLD_SIZE", "")
    return int(text) if text.isdecimal() else 0


def need_one_each(processes: int) -> None:
    """Record that NCCL joins this many processes of this machine, each of which needs its own GPU."""
    if processes > len(SHOWN) > 0:
        _Asked.processes = max(_Asked.processes, processes)


def requested_gpus() -> dict[str, int]:
    """Return how many GPUs the program requested beyond the existing ones.

    By index, by its processes, and in `CUDA_VISIBLE_DEVICES`; each is 0 if it requested no more than there are.
    """
    return {"ordinals": _Asked.ordinals, "processes": _Asked.processes, "listed": _Asked.listed}


class _Use:
    begun = False
    forbidden = False
    is_settled = False
    installed = 0


def use() -> None:
    """Record that this process uses CUDA; a child forked from it must not."""
    if _Use.forbidden:
        raise messages.bad_fork()
    if _Use.begun:
        return
    if not available() and _Use.installed:
        raise messages.no_gpus()
    _Use.begun = True
    try:
        for run in _at_first_use:
            run()
    except BaseException:
        _Use.begun = False  # a path that leaves what fails to another one must fail there too
        raise


def register_first_use(run: Callable[[], None]) -> None:
    """Register what runs when the process first uses a GPU of this world."""
    _at_first_use.append(run)


def is_used() -> bool:
    """Return whether this process has used CUDA."""
    return _Use.begun and not _Use.forbidden


def forbidden() -> bool:
    """Return whether this process was forked from one that had used CUDA."""
    return _Use.forbidden


def after_fork() -> None:
    """Raise an error in a child whose parent has used CUDA."""
    _Use.forbidden = _Use.forbidden or (_Use.begun and bool(SHOWN) and kinds.now().refuses_forks)


def index_of(device: Any) -> int | None:
    """Return the index of the simulated GPU that a torch.device names (None for any other device)."""
    kind = device.type
    if kind == "lazy":
        return None if device.index is None else int(device.index)  # C++ refuses a program's own
    if kind == kinds.now().name:
        if not _Use.is_settled:
            available()
        if not SHOWN:  # C++ checks for CUDA once in a process, perhaps in another world
            if kinds.now().is_cuda:
                torch.cuda.init()
            return None
        use()
        return _current.index if device.index is None else check_index(device.index)
    return None


def index_named(device: Any) -> int | None:
    """Do the same as `index_of`, for a torch.device, a string, or an int (an accelerator's index)."""
    if type(device) is _DEVICE:
        return index_of(device)
    if isinstance(device, int) and not isinstance(device, bool):
        if device < 0:
            raise RuntimeError("Device index must not be negative")
        use()
        return check_index(device)
    if isinstance(device, str):
        if not device.startswith(kinds.now().name):
            return None
        device = torch.device(device)
    return index_of(device) if isinstance(device, torch.device) else None


def inner(device: Any) -> Any:
    """Return the device for PyTorch's C++: `lazy:i` for a GPU, anything else unchanged."""
    index = index_named(device)
    return device if index is None else LAZY[index]


def outer(device: torch.device) -> torch.device:
    """Return the device for Python: `cuda:i` for `lazy:i`, anything else unchanged."""
    return SHOWN[device.index] if device.type == "lazy" else device


def exchanging() -> Callable[[int], int]:
    """Return a new function that makes a device current and returns the one before: Dynamo stores one rule for each."""

    def exchange(index: int) -> int:
        if index >= 0 and kinds.now().is_cuda:
            use()  # `THCPModule_exchangeDevice` in torch/csrc/cuda/Module.cpp initializes CUDA
        before = current()
        make_current(index)
        return before

    return exchange
