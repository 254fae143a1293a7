"""Methods of modules that test code calls itself: called once before, of a copy that has moved to another GPU.

A distribution or a criterion often has no forward pass. What the copy's move leaves behind fails the method, or is its
result. What the method changes, it changes in the copy.
"""

from __future__ import annotations

import copy
import inspect
from types import CodeType, FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ...inspection.members import is_a
from ...provenance import records
from ...simulation import hooks
from ...simulation.accelerators import messages
from ...simulation.patching import undo_with
from .. import boundaries, devices, modules
from ..arguments import parameters
from ..findings import kept, marks, silent, stale
from ..whose import Whose, kind_of
from . import begun_calls
from .first_calls import call_moved, is_left_behind, is_running, kept_streams

_MOST = 50  # calls of one test
_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR  # run when somebody asks
_called: set[tuple[int, int]] = set()  # modules and functions of the test at hand
_methods: dict[int, tuple[CodeType, bool]] = {}  # by identity: the hash of a code object is computed each time


def _hear(frame: FrameType) -> None:
    code = frame.f_code
    known = _methods.get(id(code))
    if known is None:
        known = _methods[id(code)] = code, _is_method(code)
    if not known[1] or devices.target().index == stale.OTHER or is_running():
        return
    module = frame.f_locals.get("self")
    if not is_a(module, torch.nn.Module) or not modules.was_moved(module) or id(module) in stale.warmed:
        return
    which = (id(module), id(code))
    if which in _called or len(_called) >= _MOST or boundaries.boundary(frame) is not frame:
        return
    _called.add(which)
    if not torch.compiler.is_compiling() and modules.devices_of(module) == {devices.target()}:
        _try(frame, module)


def _is_method(code: CodeType) -> bool:
    is_named = not code.co_name.startswith("__") and not hasattr(torch.nn.Module, code.co_name)
    is_own = kind_of(code) == Whose.CODE and parameters(code)[:1] == ("self",)
    return is_named and is_own and not code.co_flags & _LATER


def _try(frame: FrameType, module: Any) -> None:
    """Call the method that begins in a frame with a copy of its module; raise where a strict run fails by that."""
    name = frame.f_code.co_name
    static = inspect.getattr_static(type(module), name, None)
    function = inspect.unwrap(static.fget if isinstance(static, property) else static)  # type: ignore[arg-type]
    if getattr(function, "__code__", None) is not frame.f_code:
        return
    try:
        twin = copy.deepcopy(module)
    except Exception:
        return  # it has what cannot be copied, as a tensor that was computed with gradients

    def call(one: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(one, name) if isinstance(static, property) else getattr(one, name)(*args, **kwargs)

    args, kwargs = _arguments(frame)
    left = _left_tensors(call_moved(twin, function, call, args, kwargs), module)
    strays = {moment for each in left if (moment := records.creation_moment(each)) is not None}
    if is_left_behind(twin, function, strays, devices.target()):
        _move_as_caller(module, modules.tensors_of(twin)[0].device, frame.f_code)
        peer = modules.tensors_of(module)[0]
        error = messages.two_devices(peer.device, left[0].device)
        hooks.failed(error, name, (peer, left[0]), {})
        raise error
    _call_back(twin, function, call, args, kwargs)


def _call_back(twin: Any, function: Any, call: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Call the method of the copy again on the test's GPU, and note what it has kept of the other one and uses.

    A strict run fails by it.
    """
    other = torch.device(devices.target().type, stale.OTHER)
    try:
        twin.to(devices.target())
        with kept_streams():
            result = call(twin, *args, **kwargs)
    except Exception as error:
        strays, place = marks.strays(error, other), marks.served_location(error)
        if any(kept.attribute_of(inner, strays, other, depth=0) for inner in twin.modules()):
            fails = is_left_behind(twin, function, strays, other)  # not a table of them: the attribute itself
        else:
            fails = place is not None and silent.note_served(place) and silent.is_strict()
        if fails:
            raise
        return
    for each in tree_leaves(result):
        place = stale.served_location(None, each) if is_a(each, torch.Tensor) else None
        if place is not None and silent.note_served(place) and silent.is_strict():
            silent.fail(function.__name__, each)


def _move_as_caller(module: Any, device: torch.device, code: CodeType) -> None:
    """Move a module as its copy was moved, and record the method's caller, not the method, as the place of the move."""
    module.to(device)
    for thing in (*module.modules(), *modules.tensors_of(module)):
        history = records.of(thing)
        move = history and history[records.MOVE]
        if history and move and move[records.STACK][:1] == (code,):
            event = (move[records.WHAT], move[records.STACK][2:], *move[records.DEVICE :])
            records.keep(thing, (event, history[records.CREATION], event, history[records.COPY]))


def _left_tensors(result: Any, module: Any) -> list[torch.Tensor]:
    """Return what a method of the copy returns of another device than the copy's that was there before the move."""
    arrived = next((moment for inner, moment, _ in kept.arrivals(module) if inner is module), 0)
    on_target = [each for each in tree_leaves(result) if is_a(each, torch.Tensor) and each.device == devices.target()]
    return [each for each in on_target if (records.creation_moment(each) or arrived) < arrived]


def _arguments(frame: FrameType) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a call that begins, but for the object."""
    code, values = frame.f_code, frame.f_locals
    positional = code.co_varnames[1 : code.co_argcount]
    by_name = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    rest = list(code.co_varnames[code.co_argcount + code.co_kwonlyargcount :])
    args = [values[each] for each in positional]
    args += values[rest.pop(0)] if code.co_flags & inspect.CO_VARARGS else ()
    more = values[rest.pop(0)] if code.co_flags & inspect.CO_VARKEYWORDS else {}
    return args, {each: values[each] for each in by_name} | more


def forget() -> None:
    """Forget the calls of a test that has ended."""
    _called.clear()


def install() -> None:
    """Hear of the methods that test code calls, from now on."""
    forget()
    begun_calls.listeners.append(_hear)
    undo_with(lambda: begun_calls.listeners.remove(_hear))
