"""Operators that name cuDNN, which the CPU has under other names: convolutions and batch norm."""

from __future__ import annotations

from typing import Any

import torch

from .cuda_only import on_cuda

_aten: Any = torch.ops.aten


def convolve(
    source: Any, weight: Any, padding: Any, stride: Any, dilation: Any, groups: int, *_settings: bool, out: Any = None
) -> Any:
    """Return a convolution without a bias."""
    none = [0] * len(padding)
    result = _aten.convolution(source, weight, None, stride, padding, dilation, False, none, groups)
    return result if out is None else out.resize_(result.shape).copy_(result)


def convolve_transposed(
    source: Any,
    weight: Any,
    padding: Any,
    output_padding: Any,
    stride: Any,
    dilation: Any,
    groups: int,
    *_settings: bool,
) -> Any:
    """Return a transposed convolution without a bias."""
    return _aten.convolution(source, weight, None, stride, padding, dilation, True, output_padding, groups)


def convolve_and_cut(source: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """Return a convolution without its negative values."""
    none = [0] * len(padding)
    return _aten.convolution(source, weight, bias, stride, padding, dilation, False, none, groups).relu_()


def convolve_add_and_cut(
    source: Any, weight: Any, other: Any, alpha: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """Return the sum of a convolution and another tensor, without its negative values."""
    none = [0] * len(padding)
    result = _aten.convolution(source, weight, bias, stride, padding, dilation, False, none, groups)
    return result.add_(other, alpha=1 if alpha is None else alpha).relu_()


def normalize(
    source: Any, weight: Any, bias: Any, mean: Any, variance: Any, training: bool, factor: float, eps: float
) -> tuple[Any, ...]:
    """Return a batch norm, what its gradient needs, and no memory of cuDNN's."""
    made = _aten.native_batch_norm(source, weight, bias, mean, variance, training, factor, eps)
    return (*made, torch.empty(0, dtype=torch.uint8))


def normalize_back(
    source: Any, gradient: Any, weight: Any, mean: Any, variance: Any, saved: Any, inverse: Any, eps: float, _space: Any
) -> tuple[Any, ...]:
    """Return the gradients of input, weight and bias."""
    made: tuple[Any, ...] = _aten.native_batch_norm_backward(
        gradient, source, weight, mean, variance, saved, inverse, True, eps, [True, True, True]
    )
    return made


on_cuda(
    {
        "aten::cudnn_convolution": convolve,
        "aten::cudnn_convolution.out": convolve,
        "aten::cudnn_convolution_transpose": convolve_transposed,
        "aten::cudnn_convolution_relu": convolve_and_cut,
        "aten::cudnn_convolution_add_relu": convolve_add_and_cut,
        "aten::cudnn_batch_norm": normalize,
        "aten::cudnn_batch_norm_backward": normalize_back,
    }
)
