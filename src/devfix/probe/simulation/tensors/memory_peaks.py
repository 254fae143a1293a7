"""Peak memory of GPUs, tracked from the first time that a program queries a peak.

Tracking slows the creation of tensors down, so it does not start earlier. A storage counts until C++ frees it, which a
weak reference to its Python object reports.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from .. import hooks
from ..patching import undo_with
from .tensor import Tensor

BLOCK = 512  # bytes: the allocator rounds every size up to a multiple
_held: dict[int, tuple[Any, int, int]] = {}  # by storage: weak reference, GPU and size
_now: dict[int, int] = {}
most: dict[int, int] = {}


def rounded(size: int) -> int:
    """Return the bytes that the allocator uses for a size."""
    return -(-size // BLOCK) * BLOCK


def raise_to(gpu: int, figure: int) -> int:
    """Raise the peak of a GPU to a measured figure, and return it."""
    most[gpu] = max(figure, most.get(gpu, 0))
    return most[gpu]


def begin_again(gpu: int) -> None:
    """Reset the peak of a GPU to its current usage."""
    most[gpu] = _now.get(gpu, 0)


def follow(living: Iterable[Any]) -> None:
    """Track every living simulated tensor and all new ones; repeated calls have no effect."""
    if getattr(hooks.on_created, "_devfix_follows", False):
        return
    for tensor in living:
        _note(tensor)
    _listen()


def _listen() -> None:
    on_created, on_moved = hooks.on_created, hooks.moved
    shorter, on_host = hooks.fast_on_created.get(on_created), hooks.fast_on_created_cpu.get(on_created)

    def created(result: Any, func: Any, args: Any, kwargs: Any) -> None:
        on_created(result, func, args, kwargs)
        _note_all(result)

    def moved(result: Any, source: Any, func: Any) -> None:
        on_moved(result, source, func)
        _note_all(result)

    def forget() -> None:
        if hooks.on_created is created:
            hooks.on_created, hooks.moved = on_created, on_moved
        hooks.fast_on_created.pop(created, None)
        hooks.fast_on_created_cpu.pop(created, None)
        _held.clear()
        _now.clear()
        most.clear()

    created._devfix_follows = True  # type: ignore[attr-defined]
    if shorter is not None:
        hooks.fast_on_created[created] = _deriving(shorter)
    if on_host is not None:
        hooks.fast_on_created_cpu[created] = on_host
    hooks.on_created, hooks.moved = created, moved
    undo_with(forget)


def _deriving(shorter: Any) -> Any:
    def derived(result: Any, func: Any, source: Any) -> None:
        shorter(result, func, source)
        _note(result)

    return derived


def _note_all(result: Any) -> None:
    if isinstance(result, Tensor):
        _note(result)
    elif isinstance(result, (tuple, list)):
        for item in result:
            _note_all(item)


def _note(tensor: Any) -> None:
    gpu = tensor._devfix_gpu
    if gpu < 0:
        return
    try:
        storage = tensor._devfix_held.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return  # sparse
    key = storage._cdata
    if key in _held:
        return

    def ended(_: Any) -> None:
        known = _held.pop(key, None)
        if known is not None:
            _now[known[1]] -= known[2]

    size = rounded(storage.nbytes())
    _held[key] = (weakref.ref(storage, ended), gpu, size)
    now = _now[gpu] = _now.get(gpu, 0) + size
    if now > most.get(gpu, 0):
        most[gpu] = now
