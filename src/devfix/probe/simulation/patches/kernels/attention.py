"""The support of tensors by each of CUDA's fused attention kernels (ATen/native/transformers/cuda/sdp_utils.cpp)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...accelerators import kinds
from ...patching import wrap

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


def _answering(fits: Callable[[Any], bool]) -> Any:
    """Return a replacement for a question whether a kernel can be used, which C++ answers with no for lazy tensors."""

    def make(original: Any) -> Any:
        def can_use(params: Any, debug: bool = False) -> bool:
            on_gpu = params.query._devfix_gpu >= 0 and kinds.now().is_cuda
            return fits(params) if on_gpu else bool(original(params, debug))

        return can_use

    return make


def install() -> None:
    """Patch the questions in torch.backends.cuda."""
    questions: dict[str, Callable[[Any], bool]] = {
        "flash": lambda asked: _flashes(asked.query, asked.key, asked.value, asked.attn_mask, asked.is_causal),
        "efficient": lambda asked: _saves(asked.query, asked.attn_mask, getattr(asked, "enable_gqa", False)),
        "cudnn": lambda asked: _is_for_cudnn(asked.query),
    }
    for name, fits in questions.items():
        wrap(torch.backends.cuda, f"can_use_{name}_attention", _answering(fits))
