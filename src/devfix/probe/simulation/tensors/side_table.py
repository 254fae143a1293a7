"""Store the values of simulated tensors of user classes in a side table: such classes copy each other's `__dict__`.

`out.__dict__.update(source.__dict__)` is how a class passes on its own attributes, and must not copy the values.
PyTorch swaps tensors with others, which it rejects for objects with weak references: `hold` removes them.
"""

from __future__ import annotations

import weakref
from typing import Any

_NAMES = {"_devfix_held": None, "_devfix_gpu": -1}
_beside: dict[int, tuple[Any, dict[str, Any]]] = {}


class Hidden:
    """An attribute that is stored in the side table."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, tensor: Any, kind: Any = None) -> Any:
        return self if tensor is None else _state(tensor)[self._name]

    def __set__(self, tensor: Any, value: Any) -> None:
        _state(tensor)[self._name] = value


def _state(tensor: Any) -> dict[str, Any]:
    key = id(tensor)
    known = _beside.get(key)
    if known is not None and known[0]() is tensor:
        return known[1]
    own = tensor.__dict__
    state = {name: own.pop(name, value) for name, value in _NAMES.items()}
    _beside[key] = (weakref.ref(tensor, lambda dead, key=key: _forget(dead, key)), state)  # type: ignore[misc]
    return state


def _forget(dead: Any, key: int) -> None:
    if key in _beside and _beside[key][0] is dead:
        del _beside[key]


def hide(kind: Any) -> None:
    """Store the values of tensors of a class in the side table."""
    for name in _NAMES:
        if not isinstance(getattr(kind, name, None), Hidden):
            setattr(kind, name, Hidden(name))


def become(tensor: Any, kind: Any) -> Any:
    """Set the class of a simulated tensor, and store its values where the class has them."""
    held, gpu = tensor._devfix_held, tensor._devfix_gpu
    tensor.__class__ = kind
    tensor._devfix_held, tensor._devfix_gpu = held, gpu
    return tensor


def hold(tensor: Any) -> tuple[Any, int]:
    """Return the values of a tensor, and keep them without a weak reference until they are dropped."""
    held, gpu = tensor._devfix_held, tensor._devfix_gpu
    if id(tensor) in _beside:
        _beside[id(tensor)] = (lambda: tensor, _beside[id(tensor)][1])
    return held, gpu


def exchange(tensor: Any, values: tuple[Any, int]) -> None:
    """Replace the values of a tensor whose class, or whose `__dict__`, may have changed."""
    _beside.pop(id(tensor), None)
    for name in _NAMES:
        tensor.__dict__.pop(name, None)
    if values[1] >= 0:
        tensor._devfix_held, tensor._devfix_gpu = values
