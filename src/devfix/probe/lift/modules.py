"""Modules that test code constructs, and those that it calls: moved to the GPU before it uses them."""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ..simulation.accelerators import kinds
from ..simulation.patching import replace, undo_with
from ..simulation.tensors.suspended_trace import suspend_trace
from . import devices, left
from .whose import Whose, kind_of, nearest

Module = torch.nn.Module
MOVES_MODULE = "_devfix_moves_module"
_moved: dict[int, Any] = {}  # weak references by identity: modules may have a hash that changes, or none
_called: dict[int, Any] = {}  # those that test code has called, likewise
_put_on_host: dict[int, Any] = {}  # those that were put on the CPU by name, likewise
_proxies: weakref.WeakKeyDictionary[type, type] = weakref.WeakKeyDictionary()


def _look_at_nothing(module: Any) -> None:
    """Do nothing; see `before_call`."""


def _as_given(module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return the arguments of a call; see `arguments_for`."""
    return args, kwargs


arguments_for: Callable[[Any, Any, Any], tuple[Any, Any]] = _as_given  # of a module that test code calls
before_call: Callable[[Any], None] = _look_at_nothing  # with a module that has tensors on the host after its move
made_by_code: Callable[[FrameType], None] = _look_at_nothing  # with the frame that makes a module for no test code


class _Installed:
    now = False
    once = False


def _forgetting(known: dict[int, Any], number: int) -> Callable[[Any], None]:
    """Return what takes a module out that is no more: its number may become that of another object."""

    def forget(_: Any) -> None:
        known.pop(number, None)

    return forget


def _constructor() -> Any:
    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        above = super(Module, cls).__new__
        made = above(cls) if above is object.__new__ else above(cls, *args, **kwargs)
        if _Installed.now and not devices.has_own_default():
            frame = sys._getframe(1)
            if is_made_by_test(frame):
                call_when_made(made, cls, Module, move)
            else:
                made_by_code(frame)
        return made

    return staticmethod(__new__)


def is_made_by_test(frame: FrameType | None) -> bool:
    """Return whether a constructor is called by test code.

    The class's own way to it, that of `typing` (`Net[int](3)`) and torch's are passed over.
    """
    while frame is not None and frame.f_code.co_name in ("__new__", "__call__"):
        if kind_of(frame.f_code) not in (Whose.CODE, Whose.TOOL):
            break
        frame = frame.f_back
    if frame is None or "__new__" in frame.f_code.co_names:
        return False
    kind = kind_of(frame.f_code)
    if kind == Whose.TORCH:
        return nearest(frame) == Whose.TEST
    return kind == Whose.TEST  # a copy is made by the standard library: nobody calls `__init__` then


def call_when_made(made: Any, cls: type, base: type, then: Callable[[Any], None]) -> None:
    """Give an object a class of its own until its `__init__` has run, and call a function with it then.

    `base` is a class with the layout of `cls`. Python calls the `__init__` of the class that the object has.
    `__bases__` is set later, so that no `__init_subclass__` of the program's hears of it.
    """
    try:
        proxy = _proxies.get(cls)
        if proxy is None:
            body = {"__init__": _initializer(cls, then), "__getattribute__": _restore_class(cls)}
            proxy = type(cls.__name__, (base,), {"__module__": cls.__module__, **body})
            proxy.__bases__ = (cls,)
            _proxies[cls] = proxy
        object.__setattr__(made, "__class__", proxy)
    except TypeError:
        return  # a layout of its own: it is moved when test code calls it


def _initializer(cls: type, then: Callable[[Any], None]) -> Any:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        object.__setattr__(self, "__class__", cls)
        cls.__init__(self, *args, **kwargs)  # type: ignore[misc]
        then(self)

    return __init__


def _restore_class(cls: type) -> Any:
    """Give an object its own class back that is used before its `__init__` has run: pickle calls none."""

    def __getattribute__(self: Any, name: str) -> Any:
        object.__setattr__(self, "__class__", cls)
        return getattr(self, name)

    return __getattribute__


def move(module: Any) -> None:
    """Move a module as its author would, once; what is on a device already, or on none, stays."""
    if was_moved(module):
        return
    note_moved(module)
    if "_parameters" not in vars(module) or left.stays(module):
        return  # its own `__init__` has not called that of Module, or it is where test code wants it
    if any(each.device.type != "cpu" for each in tensors_of(module) if each.device != devices.target()):
        return
    _to_target(module)


def _to_target(module: Any) -> None:
    """Move a module; where that is refused, the failure tells that its author's `.to` would have been.

    On the first GPU it moves by its own `.to`, on others as a part of another module, whose move does not call that.
    """
    whole = module if devices.target().index == 0 else torch.nn.ModuleList([module])
    try:
        with suspend_trace():  # the author's move is not in the graph that `torch.jit.trace` records
            whole.to(devices.target())
    except Exception as error:
        with contextlib.suppress(Exception):  # it takes no attributes
            setattr(error, MOVES_MODULE, True)
        raise


def _call(original: Any) -> Any:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_asked = is_called_by_test(self, sys._getframe(1)) and _may_move()
        if is_asked and not _is_left_on_host(self, args, kwargs):
            if id(self) not in _called:
                _called[id(self)] = weakref.ref(self, _forgetting(_called, id(self)))
                move_rest(self)
            args, kwargs = arguments_for(self, args, kwargs)
        return original(self, *args, **kwargs)

    return __call__


def is_called_by_test(module: Any, frame: FrameType | None) -> bool:
    """Return whether test code calls a module; a `__call__` of the module's own class is passed over."""
    while frame is not None and frame.f_code.co_name == "__call__" and kind_of(frame.f_code) == Whose.CODE:
        first = frame.f_code.co_varnames[:1]
        if not first or frame.f_locals.get(first[0]) is not module:
            return False
        frame = frame.f_back
    return frame is not None and kind_of(frame.f_code) == Whose.TEST


def hear_moves() -> None:
    """Patch the moves of modules, as the last: what they ask for is whoever calls them."""
    for name in ("to", "cpu", kinds.now().name):
        if hasattr(Module, name):  # there is no `Module.mps`
            replace(Module, name, _moving(getattr(Module, name)))


def _moving(original: Any) -> Any:
    def move(self: Any, *args: Any, **kwargs: Any) -> Any:
        moved = original(self, *args, **kwargs)
        if kind_of(sys._getframe(1).f_code) <= Whose.CODE and not torch.compiler.is_compiling():
            name = original.__name__
            to = torch._C._nn._parse_to(*args, **kwargs)[0] if name == "to" else torch.device(name)
            if to is not None:
                _note_place(self, to.type == "cpu")
        return moved

    move.__name__ = original.__name__
    return move


def _note_place(module: Any, is_on_host: bool) -> None:
    """Note whether test code, or the code under test, has put a module with its parts on the CPU."""
    for each in module.modules() if "_modules" in vars(module) else ():
        _put_on_host.pop(id(each), None)
        if is_on_host:
            _put_on_host[id(each)] = weakref.ref(each, _forgetting(_put_on_host, id(each)))


def _is_left_on_host(module: Any, args: Any, kwargs: Any) -> bool:
    """Return whether a module was put on the CPU, and is called with what is there, too."""
    if id(module) not in _put_on_host:
        return False
    given = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
    return bool(given) and all(each.device.type == "cpu" for each in given)


def move_rest(module: Any) -> None:
    """Move a module before its first call, with the layers that it has been given since its `__init__`."""
    if not was_moved(module):
        move(module)
        return
    types = {each.device.type for each in tensors_of(module)}
    if left.stays(module):
        return
    if "cpu" in types:
        before_call(module)
    if "cpu" in types and types <= {"cpu", devices.target().type}:
        _to_target(module)


def _may_move() -> bool:
    return not devices.has_own_default() and not torch.compiler.is_compiling()


def install() -> None:
    """Patch the construction and the call of modules."""
    if not _Installed.once:  # to delete it again leaves a class that takes no arguments (CPython keeps the slot)
        _Installed.once = True
        Module.__new__ = _constructor()  # type: ignore[method-assign]
    _Installed.now = True
    replace(Module, "__call__", _call(Module.__call__))
    undo_with(_withdraw)


def _withdraw() -> None:
    _Installed.now = False


def note_moved(thing: Any) -> None:
    """Note that a module, or another object that can be moved, was moved for test code."""
    _moved[id(thing)] = weakref.ref(thing, _forgetting(_moved, id(thing)))


def was_moved(thing: Any) -> bool:
    """Return whether a module or another object was moved for test code."""
    return id(thing) in _moved


def tensors_of(module: Any) -> list[Any]:
    """Return the parameters and buffers of a module."""
    return [*module.parameters(), *module.buffers()] if "_parameters" in vars(module) else []


def devices_of(module: Any) -> set[Any]:
    """Return the devices of the parameters and buffers of a module."""
    return {each.device for each in tensors_of(module)}


def is_on() -> bool:
    """Return whether modules of test code are moved now."""
    return _Installed.now
