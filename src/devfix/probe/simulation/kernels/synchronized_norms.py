"""The parts of batch norm that only CUDA has: `SyncBatchNorm` exchanges statistics between them.

They follow the `batch_norm_*_cuda` functions in ATen/native/cuda/Normalization.cu.
"""

from __future__ import annotations

from typing import Any

import torch

from .cuda_only import on_cuda

_HALVES = (torch.float16, torch.bfloat16)


def _wide(tensor: Any) -> Any:
    """Return a tensor with the dtype in which CUDA sums, as statistics have it."""
    return tensor.float() if tensor.dtype in _HALVES else tensor


def _by_channel(statistic: Any, source: Any) -> Any:
    return _wide(statistic).view(-1, *[1] * (source.dim() - 2))


def _others(source: Any) -> list[int]:
    return [dim for dim in range(source.dim()) if dim != 1]


def _like(result: Any, source: Any) -> Any:
    return torch.empty_like(source).copy_(result)


def stats(source: Any, eps: float) -> tuple[Any, Any]:
    """Return the mean and the inverse of the standard deviation of each channel."""
    variance, mean = torch.var_mean(_wide(source), dim=_others(source), correction=0)
    return mean, (variance + eps).rsqrt()


def elements(source: Any, weight: Any, bias: Any, mean: Any, invstd: Any, eps: float, *, out: Any = None) -> Any:
    """Return the normalized input."""
    result = (_wide(source) - _by_channel(mean, source)) * _by_channel(invstd, source)
    if weight is not None:
        result = result * _by_channel(weight, source)
    if bias is not None:
        result = result + _by_channel(bias, source)
    return _like(result, source) if out is None else out.resize_(source.shape).copy_(result)


def gather_statistics(
    source: Any, mean: Any, invstd: Any, running_mean: Any, running_var: Any, momentum: float, eps: float, counts: Any
) -> tuple[Any, Any]:
    """Return the statistics of all processes together, of which each row has one's, and update the running ones."""
    counts = counts.to(mean.dtype).reshape(-1, 1)
    total = counts.sum()
    common = (mean * counts).sum(0) / total
    squares = ((invstd.pow(-2) - eps + (mean - common) ** 2) * counts).sum(0)
    if running_mean is not None:
        running_mean.copy_((1 - momentum) * _wide(running_mean) + momentum * common)
    if running_var is not None:
        running_var.copy_((1 - momentum) * _wide(running_var) + momentum * squares / (total - 1))
    return common, (squares / total + eps).rsqrt()


def gathered_alike(*args: Any) -> tuple[Any, Any]:
    """Return the same of processes that have had as many values each."""
    counts = torch.full((args[1].shape[0],), float(args[-1]))
    return gather_statistics(*args[:-1], counts)  # type: ignore[call-arg]


def reduce_gradients(
    gradient: Any, source: Any, mean: Any, invstd: Any, weight: Any, input_g: bool, weight_g: bool, bias_g: bool
) -> tuple[Any, ...]:
    """Return the sums of which the gradient of the input is made, and the gradients of weight and bias."""
    wide = _wide(gradient)
    total = wide.sum(_others(source))
    centered = (wide * (_wide(source) - _by_channel(mean, source))).sum(_others(source))
    dtype = total.dtype if weight is None else weight.dtype
    return (
        total if input_g else None,
        centered if input_g else None,
        (centered * _wide(invstd)).to(dtype) if weight_g else None,
        total.to(dtype) if bias_g else None,
    )


def back(
    gradient: Any, source: Any, mean: Any, invstd: Any, weight: Any, total: Any, centered: Any, counts: Any
) -> Any:
    """Return the gradient of the input."""
    count = counts.sum().to(total.dtype)
    slope = _by_channel(_wide(invstd) ** 2 * centered / count, source)
    factor = _wide(invstd) if weight is None else _wide(invstd) * _wide(weight)
    result = _wide(gradient) - _by_channel(total / count, source)
    result = result - (_wide(source) - _by_channel(mean, source)) * slope
    return _like(result * _by_channel(factor, source), source)


on_cuda(
    {
        "aten::batch_norm_stats": stats,
        "aten::batch_norm_elemt": elements,
        "aten::batch_norm_elemt.out": elements,
        "aten::batch_norm_gather_stats": gathered_alike,
        "aten::batch_norm_gather_stats_with_counts": gather_statistics,
        "aten::batch_norm_backward_reduce": reduce_gradients,
        "aten::batch_norm_backward_elemt": back,
    }
)
