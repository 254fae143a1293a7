"""The support of tensors by each of CUDA's fused attention kernels (ATen/native/transformers/cuda/sdp_utils.cpp)."""

from __future__ import annotations

from typing import Any

import torch

_HALVES = (torch.float16, torch.bfloat16)
_MOST = 256  # maximum head dimension of flash attention


def check(query: Any, key: Any, value: Any, mask: Any, is_causal: bool, grouped: bool) -> None:
    """Raise what PyTorch raises if the math kernel is disabled, and no enabled kernel can be used."""
    shaped = all(item.dim() == 4 and item.dtype is query.dtype and item.numel() for item in (query, key, value))
    if shaped and (
        (torch.backends.cuda.flash_sdp_enabled() and _flashes(query, key, value, mask, is_causal))
        or (torch.backends.cuda.mem_efficient_sdp_enabled() and _saves(query, mask, grouped))
        or (torch.backends.cuda.cudnn_sdp_enabled() and _is_for_cudnn(query))
    ):
        return
    raise RuntimeError("No available kernel. Aborting execution.")


def _flashes(query: Any, key: Any, value: Any, mask: Any, is_causal: bool) -> bool:
    head = query.size(-1)
    square = not is_causal or query.size(-2) == key.size(-2)
    return query.dtype in _HALVES and mask is None and head <= _MOST and value.size(-1) == head and square


def _saves(query: Any, mask: Any, grouped: bool) -> bool:
    return (query.dtype in _HALVES or query.dtype is torch.float32) and not grouped and not _asks(mask)


def _asks(mask: Any) -> bool:
    return mask is not None and bool(mask.requires_grad)


def _is_for_cudnn(query: Any) -> bool:
    return query.dtype in _HALVES and query.size(-1) % 8 == 0 and query.size(-1) <= 128
