"""Tensors that the code under test makes at its import belong to no call: the first test may import a module.

A number among these, a tensor without dimensions, stays on the host for good, and works with tensors on any GPU.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch

from ..provenance import records
from .whose import Whose, frames_in_call, kind_of

_IMPORTED = "<module>"


def runs_import(frame: FrameType | None) -> bool:
    """Return whether the code under test is being imported in a frame, or in a caller on this side of test code."""
    return any(each.f_code.co_name == _IMPORTED for each in frames_in_call(frame))


def is_number(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is a number that the code under test has made at its import, or one computed of that."""
    history: Any = records.of(tensor) if tensor.dim() == 0 else None
    event = None if history is None else history[records.CREATION]
    stack = () if event is None else event[records.STACK]
    for at in range(0, len(stack), 2):
        kind = kind_of(stack[at])
        if kind == Whose.TEST:
            return False
        if kind == Whose.CODE and stack[at].co_name == _IMPORTED:
            return True
    return False
