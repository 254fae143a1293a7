"""Devices and types of a convolution's tensors, which each of its kernels compares in its own way."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch

from ..accelerators import kinds, messages
from ..operator_tables import convolutions
from ..operator_tables.dtypes import SCALARS
from .manual_checks import check


def _type_name(tensor: Any) -> str:
    return str(tensor.type())


@check("convolution", "_convolution", "_convolution_mode")
def convolving(name: str, given: dict[str, Any]) -> None:
    """Input, weight and bias must have one type: cuDNN and oneDNN compare backend and dtype, not the GPU's index."""
    source = given["input"]
    _check_sizes(given)
    if not source.numel():  # `ConvBackend::Empty` computes nothing
        return
    if source._devfix_gpu < 0 and name == "convolution" and kinds.now().is_cuda and not _by_mkldnn(source, given):
        _refuse_on_host(source, given)
    if source._devfix_gpu >= 0 and kinds.now().is_cuda and name == "convolution":
        kernel = convolutions.on_gpu(given)
        if not kernel.is_of_cudnn:
            return _compare(kernel, source, given)
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


def _check_sizes(given: dict[str, Any]) -> None:
    """Raise what `check_shape_forward` in ATen/native/Convolution.cpp does before a kernel is chosen.

    Uninitialized tensors of these sizes, all of one dtype, are convolved on the host.
    """
    named = {name: given[name] for name in _SIZED if name in given}
    guard = torch._C._DisableTorchDispatch()
    try:
        parts = (given["input"], given["weight"], given.get("bias"))
        plain = [None if each is None else torch.empty(each.shape, device="cpu", dtype=torch.float32) for each in parts]
        if isinstance(given.get("padding"), str):
            torch.ops.aten._convolution_mode.default(*plain, *(named[name] for name in _BY_MODE))
        else:
            torch.ops.aten.convolution.default(*plain, *named.values())
    finally:
        del guard


_SIZED = ("stride", "padding", "dilation", "transposed", "output_padding", "groups")
_BY_MODE = ("stride", "padding", "dilation", "groups")


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
    """Raise the generated check of the kernel that is chosen for the host."""
    kernel = convolutions.without_libraries(source, given)
    if kernel is convolutions.Kernel.SLOW_3D:
        raise messages.no_kernel("aten::slow_conv3d_forward")
    _compare(kernel, source, given)


def _compare(kernel: convolutions.Kernel, source: Any, given: dict[str, Any]) -> None:
    """Raise what the generated check of a kernel does, and then the kernel, which reads the weight as the input."""
    method, _ = kernel.value
    for argument in ("weight", "bias"):
        other = given.get(argument)
        if other is not None and other.device != source.device:
            raise messages.argument_mismatch(argument, other.device, source.device, f"wrapper_CUDA{method}")
    weight = given["weight"]
    if source._devfix_gpu >= 0 and weight.dtype is not source.dtype:
        raise RuntimeError(f"expected scalar type {SCALARS[source.dtype]} but found {SCALARS[weight.dtype]}")
