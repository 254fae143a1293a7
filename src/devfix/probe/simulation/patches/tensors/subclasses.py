"""Tensor subclasses of the user: wrappers of simulated tensors, and handlers that identify functions."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import parameter

from ...accelerators import devices
from ...patching import replace
from ...tensors import side_table
from ...tensors.tensor import Tensor

_DEVICE = 6  # its position, after the size, the strides, the offset, the memory format, the dtype and the layout


def _wrapper(original: Any) -> Any:
    def make_wrapper_subclass(cls: Any, *args: Any, **kwargs: Any) -> Any:
        # C++ only has a guard for lazy devices: for a CUDA device even `to` would fail.
        if len(args) > _DEVICE and args[_DEVICE] is not None:
            args = (*args[:_DEVICE], devices.inner(args[_DEVICE]), *args[_DEVICE + 1 :])
        elif kwargs.get("device") is not None:
            kwargs["device"] = devices.inner(kwargs["device"])
        return original(cls, *args, **kwargs)

    return make_wrapper_subclass


def _known_to_lazy_modules() -> None:
    """Allow uninitialized parameters what they allow for the replaced functions."""
    mixin = getattr(parameter, "UninitializedTensorMixin", None)
    allowed = getattr(mixin, "_allowed_methods", None)
    if isinstance(allowed, list):
        names = [getattr(function, "__name__", "") for function in allowed]
        now = [getattr(owner, name, None) for name in names for owner in (Tensor, torch)]
        replace(mixin, "_allowed_methods", [*allowed, *(function for function in now if function is not None)])


def _begin(cls: Any, /, **keywords: Any) -> None:
    """Adapt a tensor class that the program creates."""
    super(Tensor, cls).__init_subclass__(**keywords)
    if not issubclass(cls, torch.nn.Parameter):
        side_table.hide(cls)


def install() -> None:
    """Patch the use of tensor subclasses; last, since it uses the other patches."""
    replace(Tensor, "_make_wrapper_subclass", staticmethod(_wrapper(Tensor._make_wrapper_subclass)), add=True)
    replace(Tensor, "__init_subclass__", classmethod(_begin), add=True)
    _known_to_lazy_modules()
