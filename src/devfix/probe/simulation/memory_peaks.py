"""The most memory that a GPU held between two questions: followed from when a program first asks for a peak.

To follow costs every new tensor some time, so that nothing is followed before. What a storage holds counts until C++
drops it: a weak reference to its Python object, which lives as long, tells.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from . import hooks
from .patching import undo_with
from .tensor import Tensor

BLOCK = 512  # bytes: the allocator rounds every size up to these
_held: dict[int, tuple[Any, int, int]] = {}  # by storage: what tells its end, its GPU and its size
_now: dict[int, int] = {}
most: dict[int, int] = {}


def rounded(size: int) -> int:
    """The bytes that the allocator takes for as many."""
    return -(-size // BLOCK) * BLOCK


def raise_to(gpu: int, figure: int) -> int:
    """Raise the peak of a GPU to a figure that was counted, and return it."""
    most[gpu] = max(figure, most.get(gpu, 0))
    return most[gpu]


def begin_anew(gpu: int) -> None:
    """Let the peak of a GPU be what it holds now."""
    most[gpu] = _now.get(gpu, 0)


def follow(living: Iterable[Any]) -> None:
    """Follow every simulated tensor that is made from now on, and the living ones; nothing happens a second time."""
    if getattr(hooks.born, "_devfix_follows", False):
        return
    for tensor in living:
        _note(tensor)
    _listen()


def _listen() -> None:
    told, told_of_move = hooks.born, hooks.moved
    shorter, on_host = hooks.shorter.get(told), hooks.on_host.get(told)

    def born(result: Any, func: Any, args: Any, kwargs: Any) -> None:
        told(result, func, args, kwargs)
        _note_all(result)

    def moved(result: Any, source: Any, func: Any) -> None:
        told_of_move(result, source, func)
        _note_all(result)

    def forget() -> None:
        if hooks.born is born:
            hooks.born, hooks.moved = told, told_of_move
        hooks.shorter.pop(born, None)
        hooks.on_host.pop(born, None)
        _held.clear()
        _now.clear()
        most.clear()

    born._devfix_follows = True  # type: ignore[attr-defined]
    if shorter is not None:
        hooks.shorter[born] = _deriving(shorter)
    if on_host is not None:
        hooks.on_host[born] = on_host
    hooks.born, hooks.moved = born, moved
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
