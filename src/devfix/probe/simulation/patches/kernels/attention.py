"""The support of tensors by each of CUDA's fused attention kernels (ATen/native/transformers/cuda/sdp_utils.cpp).

The conditions of a kernel are asked in the source's order, and the first one that does not hold is the reason that the
source warns of. Its conditions on sizes and strides are those of transformers/sdp_utils_cpp.h.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from ... import hooks
from ...accelerators import kinds, messages
from ...operator_tables.dtypes import SCALARS
from ...patching import wrap
from ...tensors.tangents import has_tangent

_HALVES = (torch.float16, torch.bfloat16)
_MOST = 256  # maximum head dimension of flash attention
_MOST_FOR_CUDNN = 128
# As `caffe2::TypeMeta` prints a dtype.
_TYPES = {torch.float32: "float", torch.float64: "double", torch.float16: "c10::Half", torch.bfloat16: "c10::BFloat16"}


class Asked(NamedTuple):
    """The arguments of a call of attention that its kernels check: `SDPAParams`."""

    query: Any
    key: Any
    value: Any
    attn_mask: Any
    dropout: float
    is_causal: bool
    enable_gqa: bool

    @property
    def all(self) -> tuple[Any, Any, Any]:
        """The three tensors."""
        return self.query, self.key, self.value


def check(asked: Asked) -> None:
    """Raise what PyTorch raises if the math kernel is disabled, and no enabled kernel can be used."""
    if any(item.is_nested for item in asked.all):
        return
    switches = torch.backends.cuda
    enabled = (switches.flash_sdp_enabled(), switches.mem_efficient_sdp_enabled(), switches.cudnn_sdp_enabled())
    if not any(enabled):  # no kernel is asked
        raise RuntimeError("No viable backend for scaled_dot_product_attention was found.")
    if any(next(reasons(asked), None) is None for reasons in _KERNELS.values()):
        return
    for name, text in (("efficient", "Memory efficient"), ("flash", "Flash attention"), ("cudnn", "cuDNN attention")):
        warnings.warn(f"{text} kernel not used because:", stacklevel=3)
        _tell(next(_KERNELS[name](asked), None))
    raise RuntimeError("No available kernel. Aborting execution.")


def check_mask(asked: Asked) -> None:
    """Raise the generated check of the kernel that takes masks, for one on another device than the other tensors."""
    device, mask = asked.query.device, asked.attn_mask
    if (
        any(item.is_nested or item.device != device for item in asked.all)
        or next(_of_efficient(asked), None) is not None
    ):
        return
    method = "wrapper_CUDA___scaled_dot_product_efficient_attention"
    error = messages.argument_mismatch("attn_bias", mask.device, device, method)
    func = torch.ops.aten._scaled_dot_product_efficient_attention.default
    hooks.failed(error, func, (*asked.all, mask), {})
    raise error


def check_tangents(asked: Asked, inputs: tuple[Any, ...]) -> None:
    """Raise what PyTorch raises of inputs with tangents for a fused kernel, none of which has a forward derivative."""
    kernels = {"flash": _of_flash, "efficient": _of_efficient}  # in the order in which CUDA chooses
    chosen = next((name for name, reasons in kernels.items() if next(reasons(asked), None) is None), None)
    if chosen is None or not any(has_tangent(item) for item in inputs):
        return
    raise NotImplementedError(
        f"Trying to use forward AD with _scaled_dot_product_{chosen}_attention that does not support it because it has "
        "not been implemented yet.\nPlease file an issue to PyTorch at "
        "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can prioritize its "
        "implementation or submit a PR adding the implementation to derivatives.yaml"
    )


def _tell(reason: str | None) -> None:
    if reason:  # the source is silent about some
        warnings.warn(reason, stacklevel=4)


def _of_flash(asked: Asked) -> Iterator[str]:
    heads = [item.size(-1) for item in asked.all]
    if not torch.backends.cuda.flash_sdp_enabled():
        yield "Flash attention has been runtime disabled."
    yield from _shapes(asked)
    if asked.attn_mask is not None:
        yield "Flash Attention does not support non-null attn_mask."
    if len(set(heads)) > 1 or heads[0] > _MOST:
        yield (
            "Flash attention requires q,k,v to have the same last dimension and to be less than or equal to 256. "
            f"{_last(heads)} instead."
        )
    long, other = asked.query.size(-2), asked.key.size(-2)
    if asked.is_causal and long != other:
        yield (
            "Flash attention does not support the is_causal flag when seqlen_q != seqlen_k. "
            f"Got seqlen_q: {long} seqlen_k: {other}. If you would like to use causal attention with non-square masks, "
            "please see CausalAttnMask."
        )
    yield from _dtypes(asked, _HALVES)
    yield from _heads(asked, grouped=True)
    yield from _lengths(asked)
    yield from _strides(asked, ignores_single=True)


def _of_efficient(asked: Asked) -> Iterator[str]:
    heads = [item.size(-1) for item in asked.all]
    if not torch.backends.cuda.mem_efficient_sdp_enabled():
        yield "Memory Efficient attention has been runtime disabled."
    yield from _shapes(asked)
    unit = 8 if asked.query.dtype in _HALVES else 4  # `minimum_gemm_alignment`, of a GPU with tensor cores
    if heads[0] != heads[1] or any(head % unit or not head for head in (heads[0], heads[2])):
        yield (
            f"Mem efficient attention requires last dimension of inputs to be divisible by {unit}. "
            f"{_last(heads)} instead."
        )
    yield from _lengths(asked)
    yield from _strides(asked, ignores_single=False)
    yield from _heads(asked, grouped=False)
    yield from _dtypes(asked, (torch.float16, torch.float32, torch.bfloat16))


def _of_cudnn(asked: Asked) -> Iterator[str]:
    if not torch.backends.cuda.cudnn_sdp_enabled():
        yield "cuDNN attention has been runtime disabled."
    yield from _shapes(asked)
    if torch.are_deterministic_algorithms_enabled() and not torch.is_deterministic_algorithms_warn_only_enabled():
        yield "cuDNN SDPA is not deterministic."
    yield from _dtypes(asked, _HALVES)
    if asked.attn_mask is not None and asked.attn_mask.requires_grad:
        yield ""
    if asked.dropout * 16 != int(asked.dropout * 16):
        yield (
            "cuDNN dropout probability resolution is limited to 1/16.Use a dropout probability that is a multiple of "
            "1/16 to select the cuDNN backend"
        )
    yield from _lengths(asked)
    yield from _strides(asked, ignores_single=True)
    yield from _heads(asked, grouped=True)
    heads = (asked.query.size(-1), asked.value.size(-1))
    if max(heads) > _MOST_FOR_CUDNN:
        yield f"head_dim should be no more than {_MOST_FOR_CUDNN}"
    if any(head % 8 for head in heads):
        yield "head_dim should be a multiple of 8"
    if asked.key.size(2) == 1:
        yield "cudnn SDPA does not support key/value sequence length 1."


def _last(heads: list[int]) -> str:
    return f"Got Query.size(-1): {heads[0]}, Key.size(-1): {heads[1]}, Value.size(-1): {heads[2]}"


def _shapes(asked: Asked) -> Iterator[str]:
    dims = [item.dim() for item in asked.all]
    if dims != [4, 4, 4]:
        yield (
            "All fused kernels requires query, key and value to be 4 dimensional, but got Query dim: "
            f"{dims[0]}, Key dim: {dims[1]}, Value dim: {dims[2]} instead."
        )


def _dtypes(asked: Asked, allowed: tuple[torch.dtype, ...]) -> Iterator[str]:
    found = [item.dtype for item in asked.all]
    if len(set(found)) > 1 or found[0] not in allowed:
        one, two, three = (_TYPES.get(dtype, SCALARS[dtype]) for dtype in found)
        yield (
            f"Expected query, key and value to all be of dtype: {{{', '.join(SCALARS[each] for each in allowed)}}}. "
            f"Got Query dtype: {one}, Key dtype: {two}, and Value dtype: {three} instead."
        )


def _heads(asked: Asked, grouped: bool) -> Iterator[str]:
    sizes = [list(item.shape) for item in asked.all]
    broadcast = "instead. To broadcast dense inputs, try using unsqueeze and expand_to before passing them into the"
    if len({size[0] for size in sizes}) > 1:
        yield (
            "For dense inputs, both fused kernels require query, key and value to have the same batch_size. "
            f"Query.sizes(): {sizes[0]}, Key.sizes(): {sizes[1]}, Value.sizes(): {sizes[2]} {broadcast} kernel."
        )
    one, two, three = (size[-3] for size in sizes)
    if asked.enable_gqa and grouped:
        if two != three:
            yield (
                "Both fused kernels require key and value to have the same num_heads and batch_size but got: "
                f"Key sizes: {sizes[1]}, Value sizes: {sizes[2]}, Query sizes: {sizes[0]} instead."
            )
        if one % two:
            yield (
                "The number of heads in key/value must divide number of heads in query."
                f"Got input Key sizes(): {two}, Value sizes(): {three}, Query sizes(): {one} instead."
            )
    elif not one == two == three:
        yield (
            "For dense input, both fused kernels require query, key and value to have the same num_heads. "
            f"Query.sizes(): {sizes[0]}, Key sizes(): {sizes[1]}, Value sizes(): {sizes[2]} {broadcast} kernel."
        )


def _lengths(asked: Asked) -> Iterator[str]:
    if not asked.query.size(-2) or not asked.key.size(-2):
        yield "All fused kernels do not support zero seq_len_q or seq_len_kv."


def _strides(asked: Asked, ignores_single: bool) -> Iterator[str]:
    found, mask = [item.stride(-1) for item in asked.all], asked.attn_mask
    fits = found == [1, 1, 1] or (ignores_single and asked.query.size(-1) == 1)
    if not fits or (mask is not None and mask.stride(-1) != 1):
        of_mask = (
            f", Attn_mask.stride(-1): {mask.stride(-1)} (GPU backends require attn_mask's last dimension to have stride"
            " 1 while the CPU does not)."
            if mask is not None
            else ""
        )
        yield (
            "All fused kernels require the last dimension of the input to have stride 1. Got Query.stride(-1): "
            f"{found[0]}, Key.stride(-1): {found[1]}, Value.stride(-1): {found[2]}{of_mask}"
        )


_KERNELS: dict[str, Callable[[Asked], Iterator[str]]] = {
    "flash": _of_flash,
    "efficient": _of_efficient,
    "cudnn": _of_cudnn,
}


def _answering(reasons: Callable[[Asked], Iterator[str]]) -> Any:
    """Return a replacement for a question whether a kernel can be used, which C++ answers with no for lazy tensors."""

    def make(original: Any) -> Any:
        def can_use(params: Any, debug: bool = False) -> bool:
            if params.query._devfix_gpu < 0 or not kinds.now().is_cuda:
                return bool(original(params, debug))
            tensors = (params.query, params.key, params.value, params.attn_mask)
            asked = Asked(*tensors, params.dropout, params.is_causal, getattr(params, "enable_gqa", False))
            reason = next(reasons(asked), None)
            if debug:
                _tell(reason)
            return reason is None

        return can_use

    return make


def install() -> None:
    """Patch the questions in torch.backends.cuda."""
    for name, reasons in _KERNELS.items():
        wrap(torch.backends.cuda, f"can_use_{name}_attention", _answering(reasons))
