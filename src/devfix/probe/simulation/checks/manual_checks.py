"""Operators whose CUDA kernels check devices by hand, after (or instead of) the generated check.

Each check gets the operator's name and its arguments by name; it raises, or returns so that the operator runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..accelerators import kinds, messages

CHECKS: dict[str, Callable[[str, dict[str, Any]], None]] = {}


def check(*names: str) -> Callable[[Callable[[str, dict[str, Any]], None]], Callable[[str, dict[str, Any]], None]]:
    """Register the check of the operators with these base names."""

    def register(function: Callable[[str, dict[str, Any]], None]) -> Callable[[str, dict[str, Any]], None]:
        for name in names:
            CHECKS[name] = function
        return function

    return register


@check("_local_scalar_dense", "is_set_to", "is_same_size", "resize_as_", "copy", "_has_same_storage_numel")
def anything(name: str, given: dict[str, Any]) -> None:
    """Accept tensors on any devices."""


@check("index", "_unsafe_index", "index_put_", "index_put", "_unsafe_index_put", "_index_put_impl_")
def indexing(name: str, given: dict[str, Any]) -> None:
    """Indices may be on the CPU; on a GPU they must be on that of the indexed tensor, and so must the values."""
    self = given["self"]
    for index in given.get("indices") or ():
        if index is not None and index._devfix_gpu >= 0 and index._devfix_gpu != self._devfix_gpu:
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({self.device})"
            )
    values = given.get("values")
    if values is not None and values.device != self.device and not (values.dim() == 0 and values._devfix_gpu < 0):
        raise messages.two_devices(*sorted((self.device, values.device), key=lambda device: device.type == "cpu"))


def _type_name(tensor: Any) -> str:
    return str(tensor.type())


@check("convolution", "_convolution", "_convolution_mode")
def convolving(name: str, given: dict[str, Any]) -> None:
    """Input, weight and bias must have one type: cuDNN and oneDNN compare backend and dtype, not the GPU's index."""
    source = given["input"]
    remark = "" if source._devfix_gpu >= 0 else " or input should be a MKLDNN tensor and {} is a dense tensor"
    for argument in ("weight", "bias"):
        other = given.get(argument)
        if other is not None and _type_name(other) != _type_name(source):
            text = f"Input type ({_type_name(source)}) and {argument} type ({_type_name(other)}) should be the same"
            raise RuntimeError(text + remark.format(argument))
    for argument in ("weight", "bias"):
        other = given.get(argument)
        if other is not None and other.device != source.device:
            method = (
                "wrapper_CUDA__cudnn_convolution" if kinds.now().is_cuda else f"wrapper_{kinds.now().key}__convolution"
            )
            raise messages.argument_mismatch(argument, other.device, source.device, method)


@check("masked_fill_")
def masked_filling(name: str, given: dict[str, Any]) -> None:
    """The mask must be on the tensor's device; a 0-dim value may be on the CPU."""
    self, mask, value = given["self"], given["mask"], given["value"]
    if getattr(value, "_devfix_gpu", -1) >= 0 and self._devfix_gpu < 0:
        raise RuntimeError("masked_fill_: Expected inputs to be on same device")
    if self.device != mask.device:
        text = f"but got mask on {mask.device} and self on {self.device}"
        raise RuntimeError(f"expected self and mask to be on the same device, {text}")


@check("fill_")
def filling(name: str, given: dict[str, Any]) -> None:
    """A 0-dim value may be on any device."""


@check("bernoulli_")
def drawing(name: str, given: dict[str, Any]) -> None:
    """Probabilities are moved to the device (`bernoulli_kernel` in ATen/native/cuda/DistributionTemplates.h)."""


@check("searchsorted", "bucketize")
def searching(name: str, given: dict[str, Any]) -> None:
    """The sorter must be on the device of the boundaries; the generated check skips keyword arguments."""
    sorter, boundaries = given.get("sorter"), given.get("sorted_sequence")
    if sorter is not None and boundaries is not None and sorter.device != boundaries.device:
        text = "torch.searchsorted(): sorter and boundary tensors should have same device type, but got sorter tensor"
        raise RuntimeError(f"{text} device type {sorter.device} and input value tensor device type {boundaries.device}")
