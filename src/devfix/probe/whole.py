"""Composite operators run whole, on what simulated tensors hold, where nobody could see their parts.

C++ takes a composite operator apart before the dispatcher sees it. Without gradients, modes, autocast and transforms
the CPU's own operator gives the same bits in one call, for it takes itself apart in the same way.
"""

from __future__ import annotations

from typing import Any

import torch

from . import hooks
from .tensor import Tensor, wrap_new

_modes = torch._C._len_torch_dispatch_stack
_function_modes = torch._C._len_torch_function_stack
_grad = torch.is_grad_enabled
_casting = torch.is_autocast_enabled
_functorch = torch._C._functorch.maybe_current_level
_below = torch._C._DisableTorchDispatch
_tracing = torch._C._get_tracing_state
_PLAIN = (Tensor, torch.nn.Parameter)


def possible(*tensors: Any) -> bool:
    """Whether an operator of these tensors may run whole: all are simulated, and of no class of the user's."""
    if _grad() or _modes() != 1 or _function_modes() or _casting("cuda"):
        return False
    if _functorch() is not None or _tracing() is not None:
        return False
    return all(type(tensor) in _PLAIN and tensor._devfix_gpu >= 0 for tensor in tensors)


def run(original: Any, func: Any, args: Any, kwargs: Any, gpu: int) -> Any:
    """Run an operator on what its tensors hold; the result is new and lies on `gpu`."""
    held = [item._devfix_held if isinstance(item, Tensor) else item for item in args]
    with _below():
        result = original(*held, **kwargs)
    made = wrap_new(result, gpu)
    hooks.born(made, func, args, kwargs)
    return made
