"""Dtypes that a kind of GPU lacks: whether test code asked for one, whose author would not have on such a machine."""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from . import arguments, boundaries, devices
from .whose import Whose, kind_of


def is_default() -> bool:
    """Return whether the default dtype is one that the GPU lacks."""
    return devices.is_lacking(torch.get_default_dtype())


def asked_for(frame: FrameType | None) -> bool:
    """Return whether a call of test code was given such a dtype, or an object that runs in it keeps one."""
    if is_default():
        return True
    call = boundaries.boundary(frame)
    if call is None:
        return False
    while frame is not None:
        if kind_of(frame.f_code) == Whose.CODE and _holds(_owner(frame)):
            return True
        if frame is call:
            return _holds([value for _, value in arguments.received_values(call)])
        frame = frame.f_back
    return False


def _owner(frame: FrameType) -> Any:
    """Return the attributes of the object whose method runs in a frame."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    inside = getattr(frame.f_locals.get(names[0]), "__dict__", None) if names else None
    return list(inside.values()) if isinstance(inside, dict) else []


def _holds(value: Any) -> bool:
    return any(isinstance(each, torch.dtype) and devices.is_lacking(each) for each in tree_leaves(value))
