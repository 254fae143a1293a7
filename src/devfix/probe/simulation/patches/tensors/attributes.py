"""Python attributes of simulated tensors: device, type and layout."""

from __future__ import annotations

from typing import Any

import torch

from ... import hooks
from ...accelerators import devices, kinds, messages
from ...patching import overridden, replace, wrap
from ...tensors.tensor import Tensor, device_of

_BASE: Any = torch._C.TensorBase
_outer = devices.outer
_SHOWN = devices.SHOWN


def _device(self: Any) -> torch.device:
    gpu = self._devfix_gpu
    return _SHOWN[gpu] if gpu >= 0 and (type(self) is Tensor or not overridden(self)) else _outer(device_of(self))


def _is_on(name: str) -> property:
    original = getattr(_BASE, f"is_{name}").__get__
    types = ("lazy", name)

    def is_on(self: Any) -> Any:
        if type(self) is not Tensor and overridden(self):
            return original(self)  # calls the handler
        return self._devfix_gpu >= 0 or device_of(self).type in types

    return property(is_on)


def _from_held(name: str) -> property:
    original = getattr(_BASE, name).__get__

    def answer(self: Any) -> Any:
        held = self._devfix_held
        return original(self if held is None or overridden(self) else held)

    return property(answer)


def _method_of_held(name: str) -> None:
    def make(original: Any) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            held = self._devfix_held
            return original(self if held is None or overridden(self) else held, *args, **kwargs)

        return method

    wrap(Tensor, name, make)


def _get_device(original: Any) -> Any:
    def get_device(self: Any) -> Any:
        gpu = self._devfix_gpu
        return original(self) if gpu < 0 or overridden(self) else gpu  # a wrapper has its device in C++

    return get_device


def _assign_gradient(self: Any, value: Any) -> None:
    try:
        _BASE.grad.__set__(self, value)
    except RuntimeError as error:
        error.args = (messages.outward(str(error)),)
        hooks.failed(error, "torch.Tensor.grad", (self, value), {})
        raise


def install() -> None:
    """Return for simulated tensors what those of the device return."""
    replace(Tensor, "device", property(_device), add=True)
    name = kinds.now().name
    replace(Tensor, f"is_{name}", _is_on(name), add=True)
    wrap(Tensor, "get_device", _get_device)
    replace(Tensor, "grad", property(_BASE.grad.__get__, _assign_gradient, _BASE.grad.__delete__), add=True)
    for name in ("layout", "is_sparse", "is_sparse_csr", "is_quantized", "is_mkldnn"):
        replace(Tensor, name, _from_held(name), add=True)
    for name in ("data_ptr", "const_data_ptr", "is_conj", "is_neg", "is_coalesced", "sparse_dim", "dense_dim", "stride",
                 "is_contiguous"):  # fmt: skip
        _method_of_held(name)
