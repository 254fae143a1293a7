"""Functions of the code under test that take a `device`, which test code leaves out: its author would name a GPU.

What such a function makes of no tensor, `rand_angles(10)`, is an input of what the test calls next. It is made there
where the function hands its `device` on; what it makes without a device stays on the host, as for a user who names one.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch

from .. import boundaries, constants
from ..arguments import parameters
from ..given import Given, place_of_arguments
from ..whose import Whose, kind_of

_FREE = ("generator", "out", "pin_memory")  # they say where a tensor is made


def is_handed_on(frame: FrameType, kwargs: dict[str, Any]) -> bool:
    """Return whether a factory is given the `device` of a function that test code has called without one.

    A layer of PyTorch gives its factories the one that it was made with, and that may be none of the function's.
    """
    if kind_of(frame.f_code) != Whose.CODE or "device" not in kwargs:
        return False
    if kwargs["device"] is not None or any(kwargs.get(name) for name in _FREE):
        return False
    call = boundaries.boundary(frame)
    if call is None or "device" not in parameters(call.f_code) or call.f_locals.get("device") is not None:
        return False
    if call.f_code.co_name == "__init__" or isinstance(call.f_locals.get("self"), torch.nn.Module):
        return False  # what it makes moves with the module, or was made for its place
    return place_of_arguments(call)[0] == Given.NOTHING and not constants.runs_import(frame)
