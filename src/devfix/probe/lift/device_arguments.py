"""The `device` that calls and objects of the code under test are told, or not."""

from __future__ import annotations

from inspect import CO_VARKEYWORDS
from types import FrameType
from typing import Any

import torch

from ..inspection.members import instance_dict
from . import devices
from .arguments import parameters

NAME = "device"


def leaves_device_out(call: FrameType) -> bool:
    """Return whether a call has a parameter `device`, or one in its `**kwargs`, that says nothing, or the host."""
    code = call.f_code
    if NAME in parameters(code):
        return str(call.f_locals.get(NAME)) in ("None", "cpu")
    more = call.f_locals.get(parameters(code)[-1]) if code.co_flags & CO_VARKEYWORDS else None
    return isinstance(more, dict) and NAME in code.co_consts and str(more.get(NAME)) in ("None", "cpu")


def is_told_gpu(call: FrameType, frame: FrameType) -> bool:
    """Return whether a call is told a GPU by its `device`, or the object whose method runs in a frame was told one."""
    if NAME in parameters(call.f_code) and devices.names_gpu(call.f_locals.get(NAME)):
        return True
    thing = _owner_with_device(frame)
    return thing is not None and _keeps_gpu(thing)


def is_made_for_host(frame: FrameType) -> bool:
    """Return whether a frame is of a method of an object that may be told a device, does not move, and has no GPU."""
    thing = _owner_with_device(frame)
    return thing is not None and not _keeps_gpu(thing)


def _owner_with_device(frame: FrameType) -> Any:
    """Return the object whose method runs in a frame, if its class takes a `device` and it does not move."""
    first = parameters(frame.f_code)[:1]
    thing = frame.f_locals.get(first[0]) if first == ("self",) else None
    if thing is None or isinstance(thing, torch.nn.Module) or hasattr(type(thing), "to"):
        return None
    made_by = (getattr(vars(kind).get("__init__"), "__code__", None) for kind in type(thing).__mro__)
    return thing if any(NAME in parameters(code) for code in made_by if code is not None) else None


def _keeps_gpu(thing: Any) -> bool:
    return any(devices.names_gpu(value) for value in instance_dict(thing).values())
