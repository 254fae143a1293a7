"""Tangents of forward-mode differentiation, also of tensors that transforms of `torch.func` have wrapped."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch._functorch.pyfunctorch import temporarily_pop_interpreter_stack
from torch.autograd import forward_ad

_functorch = torch._C._functorch


def is_forward_mode() -> bool:
    """Return whether tensors can have tangents now."""
    return forward_ad._current_level >= 0


def has_tangent(tensor: Any) -> bool:
    """Return whether a tensor has a tangent, or one that it wraps: `hessian` wraps those of `jacfwd` for `jacrev`."""
    with contextlib.ExitStack() as left:
        while True:
            _leave_transforms(left, _functorch.maybe_get_level(tensor))
            if forward_ad.unpack_dual(tensor).tangent is not None:
                return True
            if not _functorch.is_functorch_wrapped_tensor(tensor):
                return False
            tensor = _functorch.get_unwrapped(tensor)


def _leave_transforms(left: contextlib.ExitStack, level: int) -> None:
    """Leave the transforms above a level, which would wrap a tensor of that level again."""
    top = _functorch.peek_interpreter_stack()
    while top is not None and top.level() > level:
        left.enter_context(temporarily_pop_interpreter_stack())
        top = _functorch.peek_interpreter_stack()
