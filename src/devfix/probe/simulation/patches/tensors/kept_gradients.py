"""Gradients on another device than their tensors, as `.data =` leaves them: C++ refuses to assign such a gradient.

The node that accumulates gradients compares no devices where it is called by itself. It takes an alias, which then gets
the object of the gradient, if it counts on somebody else who refers to the gradient: a hook of the node
(`AccumulateGrad::apply` in torch/csrc/autograd/functions/accumulate_grad.cpp). Else it makes a copy, on the device of
the tensor; so it does of a gradient with other strides.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.autograd.graph import get_gradient_edge
from torch.utils.weak import WeakIdKeyDictionary

_swap = torch._C._swap_tensor_impl
_C: Any = torch._C
_owners = WeakIdKeyDictionary()  # by gradient that lies elsewhere: its tensor, weakly


def exchange(self: Any, fresh: Any) -> None:
    """Give an object what another has in C++, and the values of a simulated tensor."""
    self.__dict__.pop("_devfix_held", None)
    self.__dict__.pop("_devfix_gpu", None)
    _swap(self, fresh)
    if fresh._devfix_gpu >= 0 or self._devfix_gpu >= 0:  # the latter if its class stores it beside the tensor
        self._devfix_held, self._devfix_gpu = fresh._devfix_held, fresh._devfix_gpu


def owner_of(gradient: Any) -> Any:
    """Return the tensor whose gradient lies on another device and is this one; None if there is none."""
    known = _owners.pop(gradient, None)
    tensor = None if known is None else known()
    return tensor if tensor is not None and tensor.grad is gradient else None


def keep(tensor: Any, gradient: Any) -> None:
    """Make a gradient that of a leaf, which may be on another device."""
    if gradient.device == tensor.device:
        tensor.grad = gradient
        return
    needs = tensor.requires_grad
    with _C.DisableTorchFunctionSubclass(), torch.no_grad():
        tensor.requires_grad_()
        node: Any = get_gradient_edge(tensor).node
        hook = node.register_hook(lambda *_: None)
        node(gradient.detach())
        hook.remove()
        tensor.requires_grad_(needs)
        exchange(gradient, tensor.grad)
    _owners[gradient] = weakref.ref(tensor)


def hang_hooks(tensor: Any) -> None:
    """Register the hooks of an object with what it has in C++ now."""
    for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        known = getattr(tensor, name, None)
        if known is not None:
            setattr(tensor, name, known)
