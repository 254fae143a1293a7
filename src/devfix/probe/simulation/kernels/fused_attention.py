"""The kernels of attention that only CUDA has, called by their own names: flash and memory-efficient attention.

They compute by the CPU's flash attention. Results have the shapes of ATen/native/transformers/cuda/attention.cu.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch

from .cuda_only import on_cuda

_aten: Any = torch.ops.aten
_HALVES = (torch.float16, torch.bfloat16)
_CHUNK = 32  # sums of exponentials are padded to multiples of it by the memory-efficient kernel


def _attend(query: Any, key: Any, value: Any, causal: bool, scale: Any, mask: Any = None) -> tuple[Any, Any]:
    """Return the result and the logarithms of the sums of exponentials, of (batch, head, place, feature)."""
    flash = _aten._scaled_dot_product_flash_attention_for_cpu
    result, sums = flash(query, key, value, 0.0, causal, attn_mask=mask, scale=scale)
    return result, sums.float().contiguous()


def _no_dropout(dropout: float) -> None:
    if dropout:
        raise NotImplementedError("the simulation has no dropout in a fused kernel of attention called by its name")


def _halves(*tensors: Any) -> None:
    if any(each.dtype not in _HALVES for each in tensors):
        raise RuntimeError("FlashAttention only support fp16 and bf16 data type")


def _state() -> tuple[Any, Any]:
    return torch.zeros(2, dtype=torch.uint64), torch.zeros((), dtype=torch.uint64)


def flash(
    query: Any,
    key: Any,
    value: Any,
    dropout: float = 0.0,
    causal: bool = False,
    debug: bool = False,
    *,
    scale: Any = None,
) -> tuple[Any, ...]:
    """Return what `_scaled_dot_product_flash_attention_cuda` does."""
    _halves(query, key, value)
    _no_dropout(dropout)
    result, sums = _attend(query, key, value, causal, scale)
    return (result, sums, None, None, query.shape[2], key.shape[2], *_state(), query.new_empty(0))


def flash_back(
    gradient: Any, query: Any, key: Any, value: Any, out: Any, sums: Any, _first: Any, _second: Any, _most: int,
    _longest: int, dropout: float, causal: bool, _seed: Any, _offset: Any, *, scale: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the gradients of query, key and value."""
    _no_dropout(dropout)
    return _back(gradient, query, key, value, out, sums, causal, scale)


def _back(
    gradient: Any, query: Any, key: Any, value: Any, out: Any, sums: Any, causal: bool, scale: Any, mask: Any = None
) -> tuple[Any, ...]:
    back = _aten._scaled_dot_product_flash_attention_for_cpu_backward
    sums = sums[..., : query.shape[2]].contiguous()
    made: tuple[Any, ...] = back(gradient, query, key, value, out, sums, 0.0, causal, attn_mask=mask, scale=scale)
    return made


def efficient(
    query: Any, key: Any, value: Any, bias: Any, sums_too: bool, dropout: float = 0.0, causal: bool = False, *,
    scale: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """Return what `_scaled_dot_product_efficient_attention_cuda` does."""
    _no_dropout(dropout)
    result, sums = _attend(query, key, value, causal, scale, bias)
    padding = -sums.shape[2] % _CHUNK
    sums = torch.nn.functional.pad(sums, (0, padding), value=float("inf")) if sums_too else sums[..., :0].contiguous()
    return result, sums, torch.zeros((), dtype=torch.int64), torch.zeros((), dtype=torch.int64)


def efficient_back(
    gradient: Any, query: Any, key: Any, value: Any, bias: Any, out: Any, sums: Any, _seed: Any, _offset: Any,
    dropout: float, wanted: Any, causal: bool = False, *, scale: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the gradients of query, key and value; that of the bias is not computed."""
    _no_dropout(dropout)
    if wanted[3] and bias is not None:
        raise NotImplementedError("the simulation has no gradient of a bias in memory-efficient attention by its name")
    return (*_back(gradient, query, key, value, out, sums, causal, scale, bias), None)


def run_ragged(
    query: Any, key: Any, value: Any, starts: Any, others: Any, most: int, longest: int, dropout: float, causal: bool,
    debug: bool, *, scale: Any = None, **more: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Return what `_flash_attention_forward` does, of (batch, place, head, feature), or of sequences in one."""
    _halves(query, key, value)
    _no_dropout(dropout)
    if any(value is not None and value != -1 for value in more.values()):
        raise NotImplementedError("the simulation has no windows, lengths or slopes in `_flash_attention_forward`")
    if starts is None:
        result, sums = _attend(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), causal, scale)
        return (result.transpose(1, 2), sums, *_state(), query.new_empty(0))
    parts = []
    for (a, b), (c, d) in zip(_pairs(starts), _pairs(others), strict=True):
        one, two, three = (each.transpose(0, 1)[None] for each in (query[a:b], key[c:d], value[c:d]))
        parts.append(_attend(one, two, three, causal, scale))
    result = torch.cat([part[0][0].transpose(0, 1) for part in parts])
    return (result, torch.cat([part[1][0] for part in parts], 1), *_state(), query.new_empty(0))


def _pairs(starts: Any) -> list[tuple[int, int]]:
    return list(itertools.pairwise(starts.tolist()))


_KERNELS: dict[str, Callable[..., Any]] = {
    "aten::_scaled_dot_product_flash_attention": flash,
    "aten::_scaled_dot_product_flash_attention_backward": flash_back,
    "aten::_scaled_dot_product_efficient_attention": efficient,
    "aten::_scaled_dot_product_efficient_attention_backward": efficient_back,
    "aten::_flash_attention_forward": run_ragged,
}
on_cuda(_KERNELS)
