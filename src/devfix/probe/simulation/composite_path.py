"""Composite operators run whole, on what simulated tensors hold, where nobody could see their parts.

C++ takes a composite operator apart before the dispatcher sees it. Without gradients, modes, autocast and transforms
the CPU's own operator gives the same bits in one call, for it takes itself apart in the same way.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import forward_ad

from . import hooks
from .tensor import Tensor, wrap_new

_modes = torch._C._len_torch_dispatch_stack
_function_modes = torch._C._len_torch_function_stack
_grad = torch.is_grad_enabled
_casting = torch.is_autocast_enabled
_functorch = torch._C._functorch.maybe_current_level
_tracing = torch._C._get_tracing_state
PLAIN = (Tensor, torch.nn.Parameter)
# Something where autocast was used or operators are watched: to ask costs as much as a small operator.
listening: list[Any] = []
watched: list[Any] = []  # who watches operators, which must then go through the dispatcher
_below = torch._C._DisableTorchDispatch  # in force from when it is made until it is dropped; `with` would cost more


def alone() -> bool:
    """Whether nothing but the world is between the program and its operators: no mode, transform or autocast."""
    return (
        _modes() == 1
        and not _function_modes()
        and _functorch() is None
        and _tracing() is None
        and forward_ad._current_level < 0
        and not (listening and (watched or _casting("cuda")))
    )


def possible(*tensors: Any) -> bool:
    """Whether a composite operator of these tensors may run whole: all are simulated, and none asks for gradients."""
    for tensor in tensors:
        if type(tensor) not in PLAIN or tensor._devfix_gpu < 0:
            return False
    if _grad() and any(tensor.requires_grad for tensor in tensors):
        return False
    return alone() and hooks.born in hooks.shorter


def run(original: Any, func: Any, args: Any, kwargs: Any, gpu: int) -> Any:
    """Run an operator on what its tensors hold; the result is new and lies on `gpu`."""
    held = [item._devfix_held if isinstance(item, Tensor) else item for item in args]
    with _below():
        result = original(*held, **kwargs)
    made = wrap_new(result, gpu)
    hooks.born(made, func, args, kwargs)
    return made
