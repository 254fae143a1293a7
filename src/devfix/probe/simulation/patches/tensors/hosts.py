"""Conversions of tensors for the host: NumPy, pinned memory, printing."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from ... import hooks
from ...accelerators import kinds, messages
from ...dispatcher import graph_capture
from ...patching import overridden, replace, wrap
from ...tensors.tensor import Tensor


def _cannot(self: Any) -> TypeError:
    text = f"can't convert {self.device} device type tensor to numpy."
    error = TypeError(f"{text} Use Tensor.cpu() to copy the tensor to host memory first.")
    hooks.failed(error, "torch.Tensor.numpy", (self,), {})
    return error


def _numpy(original: Any) -> Any:
    def numpy(self: Any, *, force: bool = False) -> Any:
        if self._devfix_gpu < 0 or overridden(self):
            try:
                array = original(self, force=force)
            except TypeError as error:  # a transform's wrapper has its device in C++
                messages.translate(error)
                raise
            hooks.on_completed("torch.Tensor.numpy")
            return array
        if self.layout is not torch.strided:
            return original(self._devfix_held)  # `tensor_to_numpy` in tensor_numpy.cpp refuses the layout first
        if force:
            hooks.on_completed("torch.Tensor.numpy")
            return original(self.detach().cpu().resolve_conj().resolve_neg())
        raise _cannot(self)

    return numpy


def _array(original: Any) -> Any:
    def __array__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._devfix_gpu >= 0 and not overridden(self):
            raise _cannot(self)
        array = original(self, *args, **kwargs)
        hooks.on_completed("torch.Tensor.numpy")
        return array

    return __array__


def _pin(original: Any) -> Any:
    def pin_memory(self: Any, *args: Any, **kwargs: Any) -> Any:
        if overridden(self):
            return original(self, *args, **kwargs)
        if self._devfix_gpu >= 0 or not (self.layout is torch.strided or _can_pin(self)):
            error = RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
            hooks.failed(error, "torch.Tensor.pin_memory", (self,), {})
            raise error
        if self.is_pinned():
            return self
        if (device := kwargs.get("device", next(iter(args), None))) is not None:
            _assert_accelerator(torch.device(device))
        is_strided = self.layout is torch.strided
        result = self.clone(memory_format=torch.contiguous_format) if is_strided else self.clone()
        result._devfix_pinned = True
        return result

    return pin_memory


def _assert_accelerator(device: torch.device) -> None:
    """Raise for a device that pins no memory of the host (`getAcceleratorHooksInterface` in ATen/Context.h)."""
    if device.type in ("cpu", "meta"):
        raise RuntimeError(f"{device.type.upper()} device type not an accelerator.")


pinned_ranges: dict[int, int] = {}
"""The host's memory that a program has registered with CUDA's runtime: each start, and the address after the end."""


def _can_pin(sparse: Any) -> bool:
    """Return whether this release of PyTorch pins sparse tensors of a layout."""
    key = "SparseCPU" if sparse.layout is torch.sparse_coo else "SparseCsrCPU"
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key("aten::_pin_memory", key))


def _report_pinned(original: Any) -> Any:
    def is_pinned(self: Any, *args: Any, **kwargs: Any) -> Any:
        if overridden(self):
            return original(self, *args, **kwargs)
        known = self._devfix_pinned or (self._base is not None and self._base._devfix_pinned)
        return bool(known or (pinned_ranges and _is_registered(self)))

    return is_pinned


def _is_registered(tensor: Any) -> bool:
    """Return whether the runtime counts a tensor's memory as pinned, as `isPinnedPtr` of CUDA's hooks asks it."""
    if tensor._devfix_gpu >= 0 or tensor.layout is not torch.strided:
        return False
    first = tensor.data_ptr()
    return any(start <= first < end for start, end in pinned_ranges.items())


def _on_host(name: str) -> None:
    def make(original: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            held = None if overridden(self) else self._devfix_held
            if held is not None:
                graph_capture.note_copy(self._devfix_gpu)
                hooks.read(self, f"torch.Tensor.{name}")
            return original(self if held is None else held, *args, **kwargs)

        return call

    wrap(Tensor, name, make)


_PLACES = {"map_": ("'other'",), "map2_": ("argument 'x'", "argument 'y'")}  # as the messages name the arguments


def _calling(name: str) -> Any:
    """Let a method that calls a Python function for each pair of elements raise that it only works on the host."""

    def make(original: Any) -> Any:
        def call(self: Any, *args: Any) -> Any:
            tensors = [item for item in (self, *args) if isinstance(item, Tensor)]
            on_host = all(item._devfix_gpu < 0 for item in tensors)
            if on_host or any(overridden(item) or item.requires_grad for item in tensors):
                return original(self, *args)
            error = TypeError(f"{name} is only implemented on CPU tensors")
            for place, other in zip(_PLACES[name], args, strict=False):
                if isinstance(other, Tensor) and _kind(other) != _kind(self):
                    error = TypeError(f"{name}: expected {_kind(self)} for {place} (got {_kind(other)})")
                    break
            hooks.failed(error, f"torch.Tensor.{name}", tuple(tensors), {})
            raise error

        return call

    return make


@cache
def _are_types_named() -> bool:
    """Return whether C++ names `torch.FloatTensor` here, as 2.13 does; CPUFloatType before."""
    try:
        one, other = (torch.ones(1, dtype=each, device="cpu") for each in (torch.float32, torch.float64))
        one.map_(other, lambda first, second: first)
    except TypeError as error:
        return "torch." in str(error)
    return False


def _kind(tensor: Any) -> str:
    """Return the type of a tensor as C++ names it."""
    if _are_types_named():
        return str(tensor.type())
    place = "CPU" if tensor._devfix_gpu < 0 else kinds.now().key
    return place + str(tensor.type()).rpartition(".")[2].replace("Tensor", "Type")


def install() -> None:
    """Patch the conversions."""
    replace(Tensor, "_devfix_pinned", False, add=True)
    wrap(Tensor, "numpy", _numpy)
    wrap(Tensor, "__array__", _array)
    wrap(Tensor, "pin_memory", _pin)
    wrap(Tensor, "is_pinned", _report_pinned)
    _on_host("tolist")
    for name in _PLACES:
        wrap(Tensor, name, _calling(name))
