"""Give classes of PyTorch's in Python a simulated base in place of the one in C++, which CPU builds lack.

So a program sees PyTorch's own signatures, errors, names and documentation of `torch.cuda.Stream` and similar classes.
"""

from __future__ import annotations

import types
from typing import Any

_SKIPPED = ("__dict__", "__weakref__")


def rebase(original: Any, *bases: Any) -> Any:
    """Return a class with the names and functions of `original`, on other bases; `super()` finds these."""
    cell = types.CellType()
    body = {name: _inside(value, cell) for name, value in vars(original).items() if name not in _SKIPPED}
    made = type(original.__name__, bases, body)
    made.__qualname__ = original.__qualname__
    cell.cell_contents = made
    return made


def _inside(value: Any, cell: Any) -> Any:
    """Return a function, or what is made of one, with another class behind its `super()`."""
    if isinstance(value, (classmethod, staticmethod)):
        return type(value)(_inside(value.__func__, cell))
    if isinstance(value, property):
        getter, setter, deleter = (each and _inside(each, cell) for each in (value.fget, value.fset, value.fdel))
        return property(getter, setter, deleter, value.__doc__)
    if type(value) is not types.FunctionType or "__class__" not in value.__code__.co_freevars:
        return value
    names = value.__code__.co_freevars
    closure = tuple(
        cell if name == "__class__" else old for name, old in zip(names, value.__closure__ or (), strict=True)
    )
    made = types.FunctionType(value.__code__, value.__globals__, value.__name__, value.__defaults__, closure)
    made.__kwdefaults__, made.__qualname__, made.__doc__ = value.__kwdefaults__, value.__qualname__, value.__doc__
    made.__module__, made.__annotations__ = value.__module__, value.__annotations__
    return made
