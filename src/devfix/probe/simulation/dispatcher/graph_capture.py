"""Detect when the host waits for a GPU: forbidden during graph capture, and reported if the program requests that.

Operators that wait are only checked while there is a listener, so that they cost nothing otherwise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

from ..accelerators import captures, devices, messages
from ..operator_tables.plans import SPECIAL, _plans, forget
from ..tensors.tensor import Tensor
from ..tensors.unwrapping import tensors_of
from . import composite_path

# Operators whose results or copies the host waits for.
WAITING = (
    "_local_scalar_dense", "nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "equal",
    "_to_copy", "copy_", "is_nonzero", "bincount", "multinomial", "_linalg_check_errors", "index", "index_put_",
    "_index_put_impl_", "repeat_interleave", "allclose", "histc",
)  # fmt: skip
# Pull request 172156 of January 2026; before it the driver refused the copy, and the capture failed.
CHECKS_COPIES = messages.VERSION >= (2, 11)
CHECKS_LATER = messages.VERSION >= (2, 13)  # whose library checks the values to draw from by `_assert_async`
_mode = [0]
_checks: dict[str, list[Callable[[Any, Any, Any], None]]] = {}
_before: dict[str, Any] = {}


def begin() -> None:
    """Forbid waiting from here on."""
    watch(WAITING, _forbid)


def end() -> None:
    """Allow waiting again."""
    unwatch(WAITING, _forbid)


def sync_mode() -> int:
    """Return what happens if the host waits: 0 nothing, 1 a warning, 2 an error."""
    return _mode[0]


def set_sync_mode(mode: Any) -> None:
    """Set what happens if the host waits (`THCPModule_cudaSetSyncDebugMode` in torch/csrc/cuda/Module.cpp)."""
    if type(mode) is not int:
        raise RuntimeError("invalid argument to set_sync_debug_mode")
    if not 0 <= mode <= 2:
        raise RuntimeError("invalid value of debug_mode, expected one of 0,1,2")
    if mode and not _mode[0]:
        watch(WAITING, _report_wait)
    elif _mode[0] and not mode:
        unwatch(WAITING, _report_wait)
    _mode[0] = mode


def reset() -> None:
    """Remove all listeners."""
    captures.reset()
    _mode[0] = 0
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


def _devices(func: Any, args: Any, kwargs: Any) -> tuple[bool, bool, bool]:
    """Return whether a call reads values of a GPU, and whether it copies to or from the host, and pageable memory."""
    tensors = [item for item in args if isinstance(item, Tensor)]
    on_gpu = any(item._devfix_gpu >= 0 for item in tensors)
    device = kwargs.get("device")
    to_gpu = device is not None and torch.device(device).type != "cpu"
    crosses = (on_gpu != to_gpu) if device is not None else len({item._devfix_gpu < 0 for item in tensors}) > 1
    pinned = any(item._devfix_gpu < 0 and item.is_pinned() for item in tensors) or (
        on_gpu and crosses and device is not None and bool(kwargs.get("pin_memory") or kwargs.get("non_blocking"))
    )
    return on_gpu or to_gpu, crosses, crosses and not pinned


def _blocks(func: Any, args: Any, kwargs: Any) -> bool:
    """Return whether a copy waits until it is done, unless it is told not to."""
    given = kwargs.get("non_blocking")
    return not (args[2] if given is None and func._schema.name == "aten::copy_" and len(args) > 2 else given)


def _waits(func: Any, args: Any, kwargs: Any) -> bool:
    """Return whether an operator waits with these arguments, of those that do not with all."""
    name = func._schema.name.split("::")[-1]
    if name == "multinomial":  # checks the values if none is drawn twice (native/Distributions.cpp)
        return not (CHECKS_LATER or (args[2] if len(args) > 2 else kwargs.get("replacement", False)))
    if name == "equal":  # `cuda_equal` in cuda/Equal.cpp compares nothing with itself
        return args[0] is not args[1]
    if name == "histc":  # reads the least and the greatest element where no range is given (cuda/SummaryOps.cu)
        least, most = kwargs.get("min", [*args[2:3], 0][0]), kwargs.get("max", [*args[3:4], 0][0])
        return bool(least == most)
    if name.startswith(("index", "_index_put")):  # a mask becomes as many indices as it has true elements (`nonzero`)
        given = [item for item in args[1] if isinstance(item, Tensor)] if len(args) > 1 else []
        values = args[2] if len(args) > 2 else None
        return any(item.dtype in _MASKS for item in given) and (values is None or values.numel() > 1)
    return not (name == "repeat_interleave" and kwargs.get("output_size") is not None)


_MASKS = (torch.bool, torch.uint8)
_COPIES = ("_to_copy", "copy_")


def _forbid(func: Any, args: Any, kwargs: Any) -> None:
    touches, crosses, pageable = _devices(func, args, kwargs)
    capture = captures.current(gpu_of(args, kwargs)) if touches else None
    if capture is None or not _waits(func, args, kwargs):
        return
    if func._schema.name.split("::")[-1] in _COPIES:
        if pageable:
            raise _refused_copy(capture)
        if not (crosses and _blocks(func, args, kwargs)):
            return
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
    touches, _, pageable = _devices(func, args, kwargs)
    is_copy = func._schema.name.split("::")[-1] in _COPIES
    waits = pageable and not kwargs.get("non_blocking") if is_copy else touches and _waits(func, args, kwargs)
    if waits:
        told_of()


def told_of() -> None:
    """Warn about, or reject, one wait for a GPU."""
    if _mode[0] == 2:
        raise RuntimeError("called a synchronizing CUDA operation")
    if _mode[0]:
        warnings.warn("called a synchronizing CUDA operation", stacklevel=3)
