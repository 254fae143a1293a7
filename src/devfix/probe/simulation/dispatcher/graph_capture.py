"""Detect when the host waits for a GPU: forbidden during graph capture, and reported if the program requests that.

Operators that wait are only checked while there is a listener, so that they cost nothing otherwise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..accelerators import captures, devices, messages
from ..operator_tables.plans import SPECIAL, _plans, forget
from ..tensors.unwrapping import tensors_of
from . import composite_path, waits

# Pull request 172156 of January 2026; before it the driver refused the copy, and the capture failed.
CHECKS_COPIES = messages.VERSION >= (2, 11)
_PROTOTYPE = "Synchronization debug mode is a prototype feature and does not yet detect all synchronizing operations"
_mode = [0]
_said: list[bool] = []  # not empty once the program was told of that
_checks: dict[str, list[Callable[[Any, Any, Any], None]]] = {}
_before: dict[str, Any] = {}


def begin() -> None:
    """Forbid waiting from here on."""
    watch(waits.WAITING, _forbid)


def end() -> None:
    """Allow waiting again."""
    unwatch(waits.WAITING, _forbid)


def sync_mode() -> int:
    """Return what happens if the host waits: 0 nothing, 1 a warning, 2 an error."""
    return _mode[0]


def set_sync_mode(mode: Any) -> None:
    """Set what happens if the host waits (`THCPModule_cudaSetSyncDebugMode` in torch/csrc/cuda/Module.cpp)."""
    if not _said:
        _said.append(True)
        warnings.warn(_PROTOTYPE, stacklevel=2)
    if type(mode) is not int:
        raise RuntimeError("invalid argument to set_sync_debug_mode")
    if not 0 <= mode <= 2:
        raise RuntimeError("invalid value of debug_mode, expected one of 0,1,2")
    if mode and not _mode[0]:
        watch(waits.WAITING, _report_wait)
    elif _mode[0] and not mode:
        unwatch(waits.WAITING, _report_wait)
    _mode[0] = mode


def reset() -> None:
    """Remove all listeners."""
    captures.reset()
    _mode[0] = 0
    _said.clear()
    for name in list(_checks):
        _checks[name].clear()
        _restore(name)


def watch(names: Any, look: Callable[[Any, Any, Any], None]) -> None:
    """Call `look(func, args, kwargs)` before the operators with these base names run on tensors of a GPU."""
    composite_path.listening.append(look)
    composite_path.watched.append(look)
    for name in names:
        if not _checks.get(name):
            _before[name] = SPECIAL.get(name)
            SPECIAL[name] = _run_checked
        _checks.setdefault(name, []).append(look)
        forget(name)


def unwatch(names: Any, look: Callable[[Any, Any, Any], None]) -> None:
    """Undo one `watch`."""
    if look in composite_path.watched:
        composite_path.listening.remove(look)
        composite_path.watched.remove(look)
    for name in names:
        if look in _checks.get(name, ()):
            _checks[name].remove(look)
            if not _checks[name]:
                _restore(name)


def _restore(name: str) -> None:
    known = _before.pop(name, None)
    if known is None:
        SPECIAL.pop(name, None)
    else:
        SPECIAL[name] = known
    _checks.pop(name, None)
    forget(name)


def _run_checked(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Notify listeners of a call, and run it regularly."""
    name = func._schema.name.split("::")[-1]
    looks = list(_checks.get(name, ()))
    for look in looks:
        look(func, args, kwargs)
    from .dispatch import dispatch

    known = _before.get(name)
    if known is not None:
        return known(plan, func, args, kwargs)
    bare = _bare(func, name)
    _plans[id(func)] = bare
    try:
        return dispatch(None, func, (), args, kwargs)
    finally:
        _plans[id(func)] = plan


def _bare(func: Any, name: str) -> Any:
    """Return the plan of an operator without listeners."""
    from ..operator_tables.plans import Plan

    watched = SPECIAL.pop(name)
    try:
        return Plan(func)
    finally:
        SPECIAL[name] = watched


def gpu_of(args: Any, kwargs: Any) -> int | None:
    """Return the GPU on which an operator runs, if it does: that of its first tensor there, or of its result."""
    found = next((item._devfix_gpu for item in tensors_of(args, kwargs) if item._devfix_gpu >= 0), None)
    if found is None and kwargs.get("device") is not None:
        return devices.index_named(kwargs["device"])
    return found


def _forbid(func: Any, args: Any, kwargs: Any) -> None:
    need = waits.need_of(func, args, kwargs)
    capture = captures.current(gpu_of(args, kwargs)) if need else None
    if capture is None:
        return
    if need in (waits.Need.COPY, waits.Need.UNTIMED_COPY):
        raise _refused_copy(capture)
    raise captures.invalidate(capture)


def _refused_copy(capture: captures.Capture) -> RuntimeError:
    """Return the error of a copy between a GPU and pageable memory, which ATen/native/cuda/Copy.cu checks itself."""
    if not CHECKS_COPIES:
        return captures.invalidate(capture)
    return RuntimeError(
        "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned. "
        "Please use tensor.pin_memory() or allocate the tensor with pin_memory=True."
    )


def note_copy(gpu: int) -> None:
    """Note that the host has copied a tensor of a GPU past the dispatcher (`tolist`), into pageable memory."""
    capture = captures.current(gpu)
    if capture is not None:
        raise _refused_copy(capture)
    told_of()


def _report_wait(func: Any, args: Any, kwargs: Any) -> None:
    if waits.need_of(func, args, kwargs) in (waits.Need.WAIT, waits.Need.COPY):
        told_of()


def told_of() -> None:
    """Warn about, or reject, one wait for a GPU."""
    if _mode[0] == 2:
        raise RuntimeError("called a synchronizing CUDA operation")
    if _mode[0]:
        warnings.warn("called a synchronizing CUDA operation", stacklevel=3)
