"""Modules and tensors that another package makes of nothing, and returns to test code: moved before it has them.

The author of the test would have moved a model of torchvision before he passes it on, and a tensor that tensorly has
made of an array. What the code under test makes stays where that puts it, until test code calls it. The call is watched
as `returned` watches those that make tensors.
"""

from __future__ import annotations

import contextlib
import sys
from types import FrameType
from typing import Any

import torch
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_leaves

from ...simulation.patching import undo_with
from ...simulation.tensors.suspended_trace import suspend_trace
from .. import boundaries, devices, modules
from ..arguments import received_values
from ..given import Given, place_of_arguments
from ..whose import is_of_other_package

_CONSTRUCTORS = ("__init__", "__new__", "__call__", "<module>")


def _watch(frame: FrameType) -> None:
    """Hear of the end of the call in which a frame of another package makes a module or a tensor."""
    if sys.gettrace() is not None or torch.compiler.is_compiling():
        return
    call = boundaries.boundary(frame)
    if call is None or not is_of_other_package(call.f_code):
        return
    if call.f_code.co_name in _CONSTRUCTORS or _is_told_device(call):
        return
    if place_of_arguments(call)[0] != Given.NOTHING:
        return

    def hear(watched: FrameType, event: str, value: Any) -> Any:
        if event == "return":
            sys.settrace(None)
            watched.f_trace = None
            _move(watched, value)
        return hear

    call.f_trace, call.f_trace_lines = hear, False
    sys.settrace(_ignore)


def _ignore(frame: FrameType, event: str, value: Any) -> None:
    """Trace no call that begins while one is watched."""


def _is_told_device(call: FrameType) -> bool:
    """Return whether a call is told where its result shall be."""
    values = [value for _, value in received_values(call)]
    return any(isinstance(each, torch.device) or (isinstance(each, str) and each == "cpu") for each in values)


def _move(call: FrameType, value: Any) -> None:
    """Move the modules of a result that are on the host as a whole, and the tensors that the call has left there."""
    for each in tree_leaves(value) if not devices.has_own_default() else ():
        with contextlib.suppress(Exception):  # it is where it was; a module moves when test code calls it
            if isinstance(each, torch.nn.Module):
                held = modules.tensors_of(each)
                if held and all(tensor.device.type == "cpu" and not is_lazy(tensor) for tensor in held):
                    modules.move(each)
            elif isinstance(each, torch.Tensor) and _is_left(call, each):
                with torch.no_grad(), suspend_trace():
                    each.data = each.data.to(devices.target())


def _is_left(call: FrameType, tensor: torch.Tensor) -> bool:
    """Return whether a call has made a tensor of the host, of a dense layout, that has no gradient to compute."""
    made = boundaries.creation_of(tensor)
    is_plain = tensor.device.type == "cpu" and tensor.layout == torch.strided and tensor.grad_fn is None
    return is_plain and made is not None and made.token == boundaries.token(call) and not made.is_chosen


def install() -> None:
    """Watch calls from now on."""
    before, modules.made_by_code = modules.made_by_code, _watch
    before_tensors, boundaries.watch_others = boundaries.watch_others, _watch

    def restore() -> None:
        modules.made_by_code, boundaries.watch_others = before, before_tensors

    undo_with(restore)
