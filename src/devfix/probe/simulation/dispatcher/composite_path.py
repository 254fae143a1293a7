"""Run composite operators as a whole on the values of simulated tensors, if nothing observes their parts.

C++ decomposes a composite operator before the dispatcher sees it. Without gradients, modes, autocast and transforms the
CPU's operator gives the same bits in one call, since it decomposes itself in the same way.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import torch
from torch.autograd import forward_ad

from .. import hooks
from ..accelerators import kinds
from ..modes import world
from ..tensors.tensor import Tensor, wrap_new

_modes = torch._C._len_torch_dispatch_stack
_mode_at = torch._C._get_dispatch_stack_at
_function_modes = torch._C._len_torch_function_stack
_grad = torch.is_grad_enabled
_casting = torch.is_autocast_enabled
_functorch = torch._C._functorch.maybe_current_level
_tracing = torch._C._get_tracing_state
# Releases before 2.7 cannot be asked: they may have hooks, and C++ alone knows.
_hooks_of_saved = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", bool)
PLAIN = (Tensor, torch.nn.Parameter)
# Not empty once autocast was used or operators are watched: a query costs as much as a small operator.
listening: list[Any] = []
watched: list[Any] = []  # watchers of operators, which must then go through the dispatcher
_below = torch._C._DisableTorchDispatch  # active while the object exists; a `with` statement would cost more


def alone() -> bool:
    """Return whether there is no mode, transform or autocast besides the world."""
    return (
        _modes() == 1
        and _mode_at(0) is world[0]  # and not one of fake tensors, which runs parts of an operator inside the world's
        and not _function_modes()
        and _functorch() is None
        and _tracing() is None
        and forward_ad._current_level < 0
        # That of the CPU would cast the values of tensors on a GPU.
        and not (listening and (watched or _casting(kinds.now().name) or _casting("cpu")))
    )


def is_composite(original: Any, func: Any) -> bool:
    """Return whether the dispatcher sees parts of an operator in its place; PyTorch decomposes some in Python."""
    known = torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")
    return known or isinstance(original, FunctionType)


def is_unobserved(whole: bool) -> bool:
    """Return whether a function may bypass the dispatcher: `alone` and, if it is composite, nobody observes its parts.

    Where operators are counted, two worlds must count the same ones, and a failure names a part.
    """
    return (not whole or hooks.on_created in hooks.fast_on_created) and alone()


def packs() -> bool:
    """Return whether hooks, which are the program's, pack what operators save for the backward pass."""
    return _grad() and _hooks_of_saved(True) is not None


def possible(*tensors: Any) -> bool:
    """Return whether a composite operator of these tensors may run as a whole: all simulated, without gradients."""
    for tensor in tensors:
        if type(tensor) not in PLAIN or tensor._devfix_gpu < 0:
            return False
    if _grad() and any(tensor.requires_grad for tensor in tensors):
        return False
    return is_unobserved(True)


def run(original: Any, func: Any, args: Any, kwargs: Any, gpu: int) -> Any:
    """Run an operator on the values of its tensors; the result is new and on `gpu`."""
    held = [item._devfix_held if isinstance(item, Tensor) else item for item in args]
    with _below():
        result = original(*held, **kwargs)
    made = new_on(gpu, result, func, args, kwargs)
    hooks.on_created(made, func, args, kwargs)
    return made


def new_on(gpu: int, result: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Return a new result on a simulated GPU; report and raise a TypeError where its kind lacks the dtype."""
    try:
        return wrap_new(result, gpu)
    except TypeError as error:
        hooks.failed(error, func, args, kwargs)
        raise
