"""Objects that are no modules and have a `.to` or `.cuda` of their own: moved when test code has constructed them."""

from __future__ import annotations

import builtins
import contextlib
import itertools
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import torch

from ...capture import kinds
from ...simulation.accelerators import kinds as simulated
from ...simulation.patching import replace
from .. import devices, given, modules
from ..whose import Whose, kind_of

_NAMES = ("to", "cuda")
_DEPTH, _PARTS = 3, 1000  # that are looked at of an object
_OTHERS = (torch.Tensor, torch.nn.Module, torch.optim.Optimizer, BaseException)


def _building(original: Any) -> Any:
    """Have each class that can be moved report when test code constructs one of its objects."""

    def __build_class__(*args: Any, **kwargs: Any) -> Any:
        built = original(*args, **kwargs)
        if kind_of(sys._getframe(1).f_code) <= Whose.CODE and _is_movable(built):
            built.__new__ = _constructor(built)
        return built

    return __build_class__


def _is_movable(built: Any) -> bool:
    """Return whether a class has a method of its own to move its objects, and makes them as `object` does."""
    if not isinstance(built, type) or issubclass(built, _OTHERS) or built.__new__ is not object.__new__:
        return False
    return any(callable(vars(built).get(name)) for name in _NAMES)


def _constructor(built: Any) -> Any:
    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        following = super(built, cls).__new__  # a class derived from this one may be a tuple too
        made = following(cls) if following is object.__new__ else following(cls, *args, **kwargs)
        if modules.is_on() and modules.is_made_by_test(sys._getframe(1)) and not devices.has_own_default():
            modules.call_when_made(made, cls, _plain_below(_without_attributes(cls)), _move)
        return made

    return staticmethod(__new__)


def _without_attributes(cls: type) -> type:
    """Return the nearest class that another derives from and whose objects have no attributes of their own.

    That is `object`, or one of the standard library's to derive from: `abc.ABC`, `typing.Generic`.
    """
    base: type | None = cls
    while base is not None and base.__dictoffset__:
        base = base.__base__
    return base or object


@lru_cache(maxsize=256)
def _plain_below(base: type) -> type:
    """Return a class with the layout of those that derive from `base` and add attributes."""
    try:
        return type("_Plain", (base,), {"__orig_bases__": ()})  # without it, Generic asks for parameters
    except TypeError:
        return type("_Plain", (), {})


def _move(thing: Any) -> None:
    """Move an object by its own method, where that is what the method does; a copy that it returns fills the object."""
    if not hasattr(thing, "to") and not simulated.now().is_cuda:
        return  # its `.cuda` is for another kind of GPU
    if _is_placed(thing):
        return
    try:
        moved = thing.to(devices.target()) if hasattr(thing, "to") else thing.cuda(devices.target().index)
    except Exception as error:
        if kinds.kind_of(str(error)):
            raise
        return  # `to` has another meaning there, or the object is not ready
    if type(moved) is type(thing) and moved is not thing and isinstance(getattr(thing, "__dict__", None), dict):
        vars(thing).update(vars(moved))
    with contextlib.suppress(TypeError):  # its class has slots alone
        modules.note_moved(thing)


def _is_placed(thing: Any) -> bool:
    """Return whether an object holds a tensor that test code has put on another device: so its author wants it."""
    tensors = (each for each in itertools.islice(_parts(thing, _DEPTH), _PARTS) if isinstance(each, torch.Tensor))
    return any(each.device != devices.target() and given.is_made_by_test(each) for each in tensors)


def _parts(thing: Any, depth: int) -> Iterator[Any]:
    for each in given.values_of(thing):
        yield each
        if depth:
            yield from _parts(each, depth - 1)


def install() -> None:
    """Hear of the classes that are made from now on."""
    replace(builtins, "__build_class__", _building(builtins.__build_class__))
