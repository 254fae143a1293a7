"""Tensor classes of the user's: wrappers around simulated tensors, and handlers that know functions by identity."""

from __future__ import annotations

from typing import Any

from torch.nn import parameter

from .. import devices
from ..patching import replace
from ..tensor import Tensor


def _wrapper(original: Any) -> Any:
    def make_wrapper_subclass(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        # C++ has a guard for lazy devices alone: of a CUDA device even `to` would fail.
        return original(cls, *args, device=device if device is None else devices.inner(device), **kwargs)

    return make_wrapper_subclass


def _known_to_lazy_modules() -> None:
    """Allow uninitialized parameters what they allow of the functions that stood there before."""
    mixin = getattr(parameter, "UninitializedTensorMixin", None)
    allowed = getattr(mixin, "_allowed_methods", None)
    if isinstance(allowed, list):
        now = [getattr(Tensor, getattr(function, "__name__", ""), None) for function in allowed]
        replace(mixin, "_allowed_methods", [*allowed, *(function for function in now if function is not None)])


def install() -> None:
    """Patch what meets tensor classes of the user's; last, for it looks at the other patches."""
    replace(Tensor, "_make_wrapper_subclass", staticmethod(_wrapper(Tensor._make_wrapper_subclass)), add=True)
    _known_to_lazy_modules()
