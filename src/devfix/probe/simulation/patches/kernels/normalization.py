"""`group_norm`: its C++ keeps the memory format on the CPU and drops it elsewhere, which changes the last bits.

The simulated GPU computes in it, so that a program gets the same numbers in both worlds; the result is contiguous, as
on CUDA (kernels/layouts.py). A trace has the operator itself. And `rms_norm`, which has a fused kernel on CUDA alone.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch._prims_common import suggest_memory_format

from ... import hooks
from ...accelerators import kinds, messages
from ...patching import overridden, wrap
from ...tensors.tensor import Tensor

_aten = torch.ops.aten
_tracing = torch._C._get_tracing_state


def _keep_dtype(original: Any) -> Any:
    def group_norm(
        input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, cudnn_enabled: bool = True
    ) -> Any:
        parts = [item for item in (weight, bias) if item is not None]
        given = (input, *parts)
        plain = all(isinstance(item, torch.Tensor) and not overridden(item) for item in given)
        if _tracing() is not None or not plain or torch.is_autocast_enabled(kinds.now().name):
            return original(input, num_groups, weight, bias, eps, cudnn_enabled)
        gpu = input._devfix_gpu
        if gpu < 0 or input.is_contiguous() or any(item._devfix_gpu != gpu for item in parts):
            return original(input, num_groups, weight, bias, eps, cudnn_enabled)
        batch, channels, *rest = input.shape
        if channels % num_groups:
            return original(input, num_groups, weight, bias, eps, cudnn_enabled)
        kept = input.contiguous(memory_format=suggest_memory_format(input))
        return _aten.native_group_norm(kept, weight, bias, batch, channels, math.prod(rest), num_groups, eps)[0]

    return group_norm


def _check_weight(original: Any) -> Any:
    """Return `rms_norm` with the generated check of its fused kernel, which PyTorch has since 2.9 beside its parts.

    `rms_norm_symint` in ATen/native/layer_norm.cpp leaves weights of another dtype, and complex numbers, to the parts.
    """

    def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
        if isinstance(weight, Tensor) and isinstance(input, Tensor) and weight.device != input.device:
            on_gpu = kinds.now().is_cuda and max(weight._devfix_gpu, input._devfix_gpu) >= 0
            plain = not overridden(input) and not overridden(weight) and weight.dtype is input.dtype
            if on_gpu and plain and not input.is_complex() and hasattr(_aten, "_fused_rms_norm"):
                method = f"wrapper_{kinds.now().key}___fused_rms_norm"
                error = messages.argument_mismatch("weight", weight.device, input.device, method)
                hooks.failed(error, _aten._fused_rms_norm.default, (input, normalized_shape, weight, eps), {})
                raise error
        return original(input, normalized_shape, weight, eps)

    return rms_norm


def install() -> None:
    """Patch `group_norm` and `rms_norm`."""
    wrap(torch, "group_norm", _keep_dtype)
    wrap(torch, "rms_norm", _check_weight)
