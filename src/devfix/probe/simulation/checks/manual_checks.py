"""Operators whose CUDA kernels check devices by hand, after (or instead of) the generated check.

Each check gets the operator's name and its arguments by name; it raises, or returns so that the operator runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from ..accelerators import kinds, messages

CHECKS: dict[str, Callable[[str, dict[str, Any]], None]] = {}


def check(*names: str) -> Callable[[Callable[[str, dict[str, Any]], None]], Callable[[str, dict[str, Any]], None]]:
    """Register the check of the operators with these base names, or of one overload ("aten::max.unary_out")."""

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
    """Indices may be on the CPU; to be read, a GPU's must be on that of the indexed tensor.

    Where elements are written, `make_info` in ATen/native/IndexingUtils.h moves the indices to the tensor's device.
    """
    self = given["self"]
    for index in () if "put" in name and kinds.now().is_cuda else given.get("indices") or ():
        if index is not None and index._devfix_gpu >= 0 and index._devfix_gpu != self._devfix_gpu:
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({self.device})"
            )
    values = given.get("values")
    if values is not None and values.device != self.device and values.dim():
        if given.get("accumulate") and self._devfix_gpu >= 0 and kinds.now().is_cuda:  # cuda/Indexing.cu
            raise RuntimeError(f"expected device {self.device} but got device {values.device} for value tensor")
        raise messages.two_devices(*sorted((self.device, values.device), key=lambda device: device.type == "cpu"))


def _type_name(tensor: Any) -> str:
    return str(tensor.type())


@check("convolution", "_convolution", "_convolution_mode")
def convolving(name: str, given: dict[str, Any]) -> None:
    """Input, weight and bias must have one type: cuDNN and oneDNN compare backend and dtype, not the GPU's index."""
    source = given["input"]
    if source._devfix_gpu < 0 and name == "convolution" and kinds.now().is_cuda and not _by_mkldnn(source, given):
        _refuse_on_host(source, given)
    remark = "" if source._devfix_gpu >= 0 else " or input should be a MKLDNN tensor and {} is a dense tensor"
    for argument in ("weight", "bias"):
        other = given.get(argument)
        if other is not None and _type_name(other) != _type_name(source):
            text = f"Input type ({_type_name(source)}) and {argument} type ({_type_name(other)}) should be the same"
            raise RuntimeError(text + remark.format(argument))
    for argument in ("weight", "bias"):
        other = given.get(argument)
        if other is not None and other.device != source.device:
            if argument == "bias" and kinds.now().is_cuda:  # which is added to what cuDNN computes
                raise messages.two_devices(source.device, other.device)
            of_cuda = "wrapper_CUDA__cudnn_convolution" + ("_transpose" if given.get("transposed") else "")
            method = of_cuda if kinds.now().is_cuda else f"wrapper_{kinds.now().key}__convolution"
            raise messages.argument_mismatch(argument, other.device, source.device, method)


def _by_mkldnn(source: Any, given: dict[str, Any]) -> bool:
    """Return whether oneDNN would compute a convolution on the host (`ConvParams::use_mkldnn`, Convolution.cpp)."""
    weight, dtype = given["weight"], source.dtype
    if not torch.backends.mkldnn.is_available() or not torch.backends.mkldnn.enabled:
        return False
    if dtype in (torch.bfloat16, torch.float16):
        return _computes_halves(dtype)
    if dtype is not torch.float32:
        return False
    small = (*source.shape[:2], *(1,) * (4 - source.dim()), *source.shape[2:])[:4]
    wide = all(size > 3 for size in (1, *weight.shape[2:])[-2:])
    worth = given.get("groups", 1) > 1 or wide or source.size(0) > 1 or math.prod(small) > _WORTH
    return worth and (source.size(0) >= 16 or any(size != 1 for size in weight.shape[2:]) or _is_spread(given))


_WORTH = 20480  # elements, from which oneDNN is faster


def _is_spread(given: dict[str, Any]) -> bool:
    steps = (*given.get("stride", ()), *given.get("dilation", ()))
    return any(step != 1 for step in steps) or torch.get_num_threads() > 1


@cache
def _computes_halves(dtype: torch.dtype) -> bool:
    ask = {torch.bfloat16: "is_mkldnn_bf16_supported", torch.float16: "is_mkldnn_fp16_supported"}[dtype]
    return bool(getattr(torch.ops.mkldnn, f"_{ask}")())


def _refuse_on_host(source: Any, given: dict[str, Any]) -> None:
    """Raise the generated check of the kernel that `_select_conv_backend` in Convolution.cpp chooses for the host."""
    dims = source.dim() - 2
    wrapper = "wrapper_CUDA___slow_conv2d_forward"
    if given.get("transposed"):
        wrapper = "wrapper_CUDA_slow_conv_transpose2d" if dims < 3 else "wrapper_CUDA__slow_conv_transpose3d"
    elif any(step != 1 for step in given.get("dilation", ())):
        wrapper = "wrapper_CUDA__slow_conv_dilated2d" if dims < 3 else "wrapper_CUDA__slow_conv_dilated3d"
    elif dims == 3:
        raise messages.no_kernel("aten::slow_conv3d_forward")
    for argument in ("weight", "bias"):
        other = given.get(argument)
        if other is not None and other.device != source.device:
            raise messages.argument_mismatch(argument, other.device, source.device, wrapper)


@check("masked_fill_")
def masked_filling(name: str, given: dict[str, Any]) -> None:
    """The mask must be on the tensor's device; a 0-dim value may be on the CPU."""
    self, mask, value = given["self"], given["mask"], given["value"]
    if isinstance(value, torch.Tensor) and self._devfix_gpu < 0:
        raise RuntimeError("masked_fill_: Expected inputs to be on same device")
    if self.device != mask.device:
        text = f"but got mask on {mask.device} and self on {self.device}"
        raise RuntimeError(f"expected self and mask to be on the same device, {text}")


@check("fill_")
def filling(name: str, given: dict[str, Any]) -> None:
    """A 0-dim value may be on any device."""


@check("aten::index_fill.int_Tensor", "aten::index_fill_.int_Tensor")
def filling_indices(name: str, given: dict[str, Any]) -> None:
    """The number in a 0-dim value is read, wherever it lies; the iterator compares the index."""
    places = (given["self"].device, given["index"].device)
    if places[0] != places[1]:
        raise messages.two_devices(*sorted(places, key=lambda device: device.type == "cpu"))


@check("aten::max.unary_out", "aten::min.unary_out")
def reducing(name: str, given: dict[str, Any]) -> None:
    """`max_all_kernel` is called by `max_unary_out` in ATen/native/ReduceAllOps.cpp, which compares by hand."""
    raise messages.check_failed("self.device() == out.device()")


@check("bernoulli", "bernoulli_")
def drawing(name: str, given: dict[str, Any]) -> None:
    """Probabilities are moved to the device (`bernoulli_kernel` in ATen/native/cuda/DistributionTemplates.h)."""


@check("segment_reduce")
def reducing_segments(name: str, given: dict[str, Any]) -> None:
    """`segment_reduce_kernel` in ATen/native/SegmentReduce.cpp compares data with what says where segments end."""
    which = next(each for each in ("offsets", "lengths") if given.get(each) is not None)
    if given[which].device != given["data"].device:
        raise messages.check_failed(f"data.get_device() == {which}_value.get_device()")


@check("searchsorted", "bucketize")
def searching(name: str, given: dict[str, Any]) -> None:
    """The sorter must be on the device of the boundaries; the generated check skips keyword arguments."""
    sorter, boundaries = given.get("sorter"), given.get("sorted_sequence")
    if sorter is not None and boundaries is not None and sorter.device != boundaries.device:
        text = "torch.searchsorted(): sorter and boundary tensors should have same device type, but got sorter tensor"
        raise RuntimeError(f"{text} device type {sorter.device} and input value tensor device type {boundaries.device}")
