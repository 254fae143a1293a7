"""Find where test code calls the code under test, and which host tensors the running call created.

What an earlier call has returned on the host, and the test passes with tensors on the GPU, its author would have
moved: that is no bug of the code under test.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ..provenance import records
from ..provenance.qualnames import qualname
from . import consequences, constants, device_arguments, in_hand, modules, words
from .arguments import default_device, parameters, received_values
from .creation_places import made_at
from .creations import Call, Creation, Token
from .given import Given, builds_of_modules, is_computed_by_test, is_given_nothing, kept_tensors, place_of_arguments
from .whose import Whose, frames_of, kind_of

_DEPTH, _ITEMS = 4, 2000
_MOST = 100_000  # creations that are noted of one test
_creations: dict[int, Creation] = {}  # by the moment
watch: Callable[[FrameType], object] = id  # called with a call that has made one, though given tensors on GPUs alone
watch_others: Callable[[FrameType], object] = id  # called with the frame that has made one, in a call given no tensor
mixed: set[Token] = set()  # calls that have handed tensors of the host to a function of the suite, which moved them


def note(made: Any, frame: FrameType, device: Any = None) -> None:
    """Note in which call of test code the code under test has made a tensor of the host, on a `device` that it says."""
    if isinstance(made, torch.Tensor) and made.device.type == "cpu" and len(_creations) < _MOST:
        moment, call = records.creation_moment(made), boundary(frame)
        is_new = moment not in _creations and not constants.runs_import(frame)  # `as_tensor` may return what it got
        if moment is not None and call is not None and is_new:
            frame = next(frames_of(Whose.CODE, frame), frame)
            code = frame.f_code
            place = (os.path.realpath(code.co_filename), frame.f_lineno, qualname(code))
            is_told_where = isinstance(device, torch.device)
            follows = in_hand.followed_creation(frame, token(call), _creations) if is_told_where else None
            if follows is not None and follows.token == token(call):
                place, follows = (follows.path, follows.line, follows.function), follows.follows
            given, peer = place_of_arguments(call)
            is_told = device_arguments.is_told_gpu(call, frame)
            could_say = device_arguments.leaves_device_out(call)
            if (is_told and given == Given.NOTHING) or (could_say and given == Given.GPU and is_given_nothing(call)):
                given = Given.GPU if is_told else Given.NOTHING  # where its module lies says not what a method is told
            made_in = _creations[moment] = Creation(
                token(call),
                *place,
                called_function(call),
                given,
                peer,
                could_say,
                _owner(call),
                device_arguments.is_made_for_host(frame) or words.say_host(frame, call),
                is_told,
                follows,
            )
            if made_in.given == Given.GPU and not made_in.is_chosen:
                watch(call)
            elif made_in.given == Given.NOTHING:
                watch_others(frame)


def creation_of(tensor: Any) -> Creation | None:
    """Return what was noted of the creation of a tensor, or of the one that it derives from."""
    moment = records.creation_moment(tensor)
    return None if moment is None else _creations.get(moment)


def result_creation(tensor: Any) -> Creation | None:
    """Return what was noted of the creation of a tensor that has been on the host since, as what it derives from."""
    history, moment = records.of(tensor), records.creation_moment(tensor)
    move = None if history is None else history[records.MOVE]
    was_elsewhere = moment is not None and move is not None and move[records.MOMENT] > moment
    return None if was_elsewhere else creation_of(tensor)


def was_told_gpu(tensor: Any) -> bool:
    """Return whether a tensor of the host was made in a call that a `device` told to make it on a GPU."""
    is_on_host = isinstance(tensor, torch.Tensor) and tensor.device.type == "cpu"
    creation = creation_of(tensor) if is_on_host else None
    return creation is not None and creation.is_told and not creation.is_chosen


def leaves_devices_out() -> bool:
    """Return whether test code has left a `device` out of calls, or for objects, that have made tensors of the host."""
    return any(each.could_say or each.is_chosen for each in _creations.values())


def called_function(frame: FrameType) -> Call:
    """Return the function that runs in a frame."""
    code = frame.f_code
    return Call(code.co_name, os.path.realpath(code.co_filename), code.co_firstlineno)


def _owner(call: FrameType) -> Any:
    """Return a weak reference to the object whose method runs in a frame, None where it is no method."""
    first = parameters(call.f_code)[:1]
    thing = call.f_locals.get(first[0]) if first == ("self",) else None
    try:
        return None if thing is None else weakref.ref(thing)
    except TypeError:
        return None  # its class has slots alone


def peer_of(tensor: Any) -> Any | None:
    """Return a tensor on the GPU that was given to the call in which one of the host was made."""
    creation = creation_of(tensor)
    return creation.peer() if creation is not None and creation.peer is not None else None


def forget() -> None:
    """Forget the calls of a test that has ended."""
    _creations.clear()
    mixed.clear()
    consequences.forget()


def boundary(frame: FrameType | None) -> FrameType | None:
    """Return the outermost frame of the call that the innermost test code has made; None where there is none."""
    inner = None
    while frame is not None:
        if kind_of(frame.f_code) == Whose.TEST:
            return inner
        if kind_of(frame.f_code) == Whose.CODE:
            inner = frame
        frame = frame.f_back
    return None


def token(call: FrameType) -> Token:
    """Return what identifies a call of test code among the others of its frame."""
    outer = next(frames_of(Whose.TEST, call.f_back), None)
    return (id(call), id(outer), -1 if outer is None else outer.f_lasti)


def handed_over(frame: FrameType | None, args: Any) -> str:
    """Return what the test calls a tensor of the host among `args` that it has passed, "" where there is none.

    One that the call itself has made may be on the host because another one is that was passed. One that an
    earlier call has made is there because the test told that call no device, where it takes one.
    """
    call = boundary(frame)
    strays = [each for each in tree_leaves(args) if isinstance(each, torch.Tensor) and each.device.type == "cpu"]
    if call is None:
        return ""
    if not any(isinstance(each, torch.Tensor) for each in tree_leaves(args)):
        return _result_of_earlier(call)  # TorchScript does not tell which tensors its operator was given
    if strays and builds_of_modules(call):
        return "a module"  # on a GPU, to the constructor of one that is on the host until it is built
    if strays and token(call) in mixed:
        return "a function that works on a GPU, and no tensor there"
    for stray in strays:
        moment = records.creation_moment(stray)
        known = None if moment is None else _creations.get(moment)
        if consequences.is_one(stray):
            return "what a known finding has put on the host"
        if known is not None and known.token == token(call):
            if name := _result_of_earlier(call):
                return name
            known = known.follows
            if known is None:
                continue
        if known is not None and known.given == Given.NOTHING and known.could_say and not _was_left_behind(known):
            return f"what {known.call.name} made without a device"
        elif known is not None and known.given == Given.HOST and not _is_moved(known):
            return f"what {known.call.name} made of tensors on the host"
        elif known is not None and known.given == Given.NOTHING and is_computed_by_test(stray):
            return f"what it has computed of a result of {known.call.name}"
        elif known is not None and not _is_moved(known) and in_hand.is_result(known, call, stray):
            return f"what {known.call.name} has made of no tensor"
        elif not _is_taken_to_host(stray, call):
            for name, value in received_values(call):
                # What has no creation is computed of what the call was given: it would have been seen creating it.
                if _is_unseen(value) if moment is None else _holds(value, moment, _DEPTH, [_ITEMS]):
                    return name
    return ""


def _is_unseen(value: Any) -> bool:
    """Return whether a value is a tensor of the host whose creation was not seen, as that of `_make_subclass`."""
    return isinstance(value, torch.Tensor) and value.device.type == "cpu" and records.creation_moment(value) is None


def _is_taken_to_host(value: Any, call: FrameType) -> bool:
    """Return whether the code under test has taken a tensor from a GPU to the host, in a call of test code."""
    history = records.of(value)
    move = None if history is None else history[records.MOVE]
    return move is not None and call.f_code in move[records.STACK] and made_at(move[records.STACK]) is not None


def _result_of_earlier(call: FrameType) -> str:
    """Return which argument of a call is a tensor of the host that an earlier call has made; "" where none is.

    So is a plain object that was given one before which the test has at hand.
    """
    for name, value in received_values(call):
        if _is_of_earlier(value, call):
            return name
        kept = (each for each in kept_tensors(value) if _is_of_earlier(each, call))
        if any(in_hand.is_result(creation_of(each), call, each) for each in kept):
            return name
    return ""


def _is_of_earlier(value: Any, call: FrameType) -> bool:
    """Return whether the code under test has made a tensor of the host, in another call of test code."""
    if not isinstance(value, torch.Tensor) or value.device.type != "cpu" or not value.dim():
        return False
    known, history = creation_of(value), records.of(value)
    if known is not None or history is None:
        return known is not None and known.token != token(call)
    event = history[records.CREATION]  # not by a factory: of Python's numbers, say
    if event is None or history[records.MOVE] is not None or call.f_code in event[records.STACK]:
        return False
    return made_at(event[records.STACK]) is not None


def gives(call: FrameType, is_it: Callable[[torch.Tensor], bool]) -> bool:
    """Return whether the arguments of a call hold a certain tensor, or a copy of it on any device, or in a module."""
    found = tree_leaves([value for _, value in received_values(call)])
    held = (tensor for each in found if isinstance(each, torch.nn.Module) for tensor in modules.tensors_of(each))
    return any(is_it(each) for each in (*found, *held) if isinstance(each, torch.Tensor))


def _holds(value: Any, moment: int, depth: int, left: list[int]) -> bool:
    """Return whether a value that its author would have moved as a whole holds the tensor of that creation."""
    left[0] -= 1
    if left[0] < 0 or depth < 0 or value is None:
        return False
    if isinstance(value, torch.Tensor):
        return value.device.type == "cpu" and records.creation_moment(value) == moment
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(_holds(item, moment, depth, left) for item in value)
    if isinstance(value, dict):
        return any(_holds(item, moment, depth, left) for item in value.values())
    if isinstance(value, torch.nn.Module):
        held = modules.tensors_of(value) if not modules.was_moved(value) else []
        return any(records.creation_moment(each) == moment for each in held)
    if isinstance(value, type) or not (hasattr(type(value), "to") or hasattr(type(value), "cuda")):
        return False
    if modules.was_moved(value) and _has_made(value, moment):
        return False
    inside = getattr(value, "__dict__", None)
    return isinstance(inside, dict) and _holds_below(inside, moment, depth, left)


def _is_moved(known: Creation) -> bool:
    """Return whether the object whose method has made a tensor was moved: what it makes should have moved with it."""
    owner = None if known.owner is None else known.owner()
    return owner is not None and modules.was_moved(owner)


def _was_left_behind(known: Creation) -> bool:
    """Return whether the constructor of an object has made a tensor which the object's `.to` does not move.

    A module that may be told a device, as those of torch, is moved by others as a part of a model. One whose device is
    the host by default is told one.
    """
    owner = None if known.owner is None else known.owner()
    if owner is None or known.call.name != "__init__" or not modules.was_moved(owner):
        return False
    return not isinstance(owner, torch.nn.Module) or default_device(type(owner)) is None


def _has_made(thing: Any, moment: int) -> bool:
    """Return whether a method of an object has created a tensor, which its author's `.to` has had, or never gets."""
    known = _creations.get(moment)
    return known is not None and known.owner is not None and known.owner() is thing


def _holds_below(held: dict[str, Any], moment: int, depth: int, left: list[int]) -> bool:
    """Return whether an object with a `.to` of its own holds it, itself or in plain objects with its data."""
    for item in list(held.values()):
        inner = getattr(item, "__dict__", None)
        is_plain = not isinstance(item, (torch.Tensor, torch.nn.Module, type))
        if isinstance(inner, dict) and is_plain and depth > 0:
            if _holds_below(inner, moment, depth - 1, left):
                return True
        elif _holds(item, moment, depth - 1, left):
            return True
    return False
