"""Strided nested tensors: C++ creates them without the Python key, and queries their shells."""

from __future__ import annotations

from typing import Any

import torch

from ... import hooks
from ...accelerators import devices, kinds, messages
from ...patching import overridden, wrap
from ...tensors.tensor import Tensor


def _build_on_host(original: Any) -> Any:
    def nested_tensor(tensor_list: Any, **kwargs: Any) -> Any:
        if not isinstance(tensor_list, (list, tuple)):
            return original(tensor_list, **kwargs)  # raises the error
        device = kwargs.pop("device", None)
        index = devices.index_named(device)
        first = next((item for item in tensor_list if isinstance(item, Tensor)), None)
        if device is None and first is not None and first._devfix_gpu >= 0:
            index = first._devfix_gpu
        if device is None and kinds.now().is_cuda:
            _check_places([item for item in tensor_list if isinstance(item, Tensor)])
        items = [item.detach().cpu() if isinstance(item, Tensor) else item for item in tensor_list]
        if index is None:
            return original(items, device=device, **kwargs)
        grad = bool(kwargs.pop("requires_grad", False))
        kwargs.pop("pin_memory", None)
        made = original(items, device="cpu", **kwargs)
        hooks.on_created(made, "torch.nested.nested_tensor", (items,), {})
        return made.to(devices.LAZY[index]).requires_grad_(grad)

    return nested_tensor


def _check_places(parts: Any) -> None:
    """Raise the generated check of `cat`, which joins the parts on the devices that they have."""
    other = next((item for item in parts if item.device != parts[0].device), None)
    if other is not None:
        error = messages.argument_mismatch("tensors", other.device, parts[0].device, "wrapper_CUDA_cat")
        hooks.failed(error, "torch.nested.nested_tensor", (parts,), {})
        raise error


def _move(tensor: Any, device: Any, dtype: Any, copy: bool) -> Any:
    """Move a nested tensor: C++ would query its shell, which is on the host."""
    target = tensor.device if device is None else devices.outer(torch.device(device))
    kind = tensor.dtype if dtype is None else dtype
    index = devices.index_of(target)
    if not copy and kind is tensor.dtype and (-1 if index is None else index) == tensor._devfix_gpu:
        return tensor
    place = target if index is None else devices.LAZY[index]
    return torch.ops.aten._to_copy.default(tensor, dtype=kind, device=place)


def _to(original: Any) -> Any:
    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        if type(self) is Tensor and not self.is_nested:  # a query of handlers costs more
            return original(self, *args, **kwargs)
        if self._devfix_gpu < 0 or overridden(self) or not self.is_nested:
            return original(self, *args, **kwargs)
        if args and isinstance(args[0], Tensor):
            return _move(self, args[0].device, args[0].dtype, False)
        words = [item for item in args if isinstance(item, (str, torch.device)) or type(item) is int]
        dtypes = [item for item in args if isinstance(item, torch.dtype)]
        device = kwargs.get("device", words[0] if words else None)
        return _move(self, device, kwargs.get("dtype", dtypes[0] if dtypes else None), bool(kwargs.get("copy")))

    return to


def _cpu(original: Any) -> Any:
    def cpu(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._devfix_gpu < 0 or overridden(self) or not self.is_nested:
            return original(self, *args, **kwargs)
        return _move(self, "cpu", None, False)

    return cpu


def _detach(original: Any) -> Any:
    """Put the result on the device of its source: C++ of 2.6 creates it outside of the dispatcher."""

    def detach(self: Any) -> Any:
        result = original(self)
        if self._devfix_gpu >= 0 and result._devfix_gpu < 0 and not overridden(self):
            result._devfix_held, result._devfix_gpu = self._devfix_held.detach(), self._devfix_gpu
        return result

    return detach


def install() -> None:
    """Patch the constructor and the moves; after the plain moves."""
    wrap(Tensor, "to", _to)
    wrap(Tensor, "cpu", _cpu)
    if hasattr(torch._C, "_nested") and hasattr(torch._C._nested, "nested_tensor"):
        wrap(torch._C._nested, "nested_tensor", _build_on_host)
    if messages.VERSION < (2, 13):
        wrap(Tensor, "detach", _detach)
