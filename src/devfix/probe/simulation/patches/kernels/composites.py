"""Composite operators whose C++ selects by device: select for simulated GPUs as for the CPU.

Three operators have kernels for the CPU and CUDA, and are decomposed on a device without one; a kernel registered for
the `Lazy` key (never reached, since the dispatch mode comes first) prevents that. Attention has a stub per device.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch
import torch.nn.attention

from ... import hooks
from ...accelerators import kinds, messages
from ...dispatcher import composite_path
from ...patching import overridden, register_kernels, replace, wrap
from ...tensors.tangents import is_forward_mode
from ...tensors.tensor import Tensor
from . import attention, ctc

_WHOLE = ("silu_backward", "mish_backward", "native_channel_shuffle")
# Functions that check devices in C++ above the dispatcher, and print them.
_SPEAKING = {
    torch: ("stft", "istft", "quantile", "nanquantile", "tensor_split", "meshgrid", "tensordot", "block_diag",
            "gradient", "bucketize", "searchsorted", "lstm", "gru", "rnn_tanh", "rnn_relu", "gru_cell", "lstm_cell",
            "rnn_tanh_cell", "rnn_relu_cell", "conv1d", "conv2d", "conv3d", "chain_matmul", "inner", "dot", "vdot",
            "take_along_dim", "sparse_coo_tensor", "sparse_csr_tensor", "sparse_compressed_tensor",
            "isin", "cdist", "pairwise_distance", "_pack_padded_sequence", "_pad_packed_sequence", "batch_norm",
            "instance_norm", "group_norm", "layer_norm", "diff", "norm", "matrix_power", "_weight_norm"),
    torch.linalg: ("multi_dot", "lstsq", "solve_triangular", "cond", "matrix_norm", "matrix_power", "matrix_rank",
                   "norm", "pinv", "tensorinv", "tensorsolve", "vecdot"),
    torch.special: ("ndtr",),
    Tensor: ("stft", "istft", "quantile", "nanquantile", "tensor_split", "dot", "vdot", "to_padded_tensor", "inner",
             "take_along_dim"),
}  # fmt: skip

_func = torch.ops.aten.scaled_dot_product_attention.default


def _refuse_call(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("a simulated tensor reached the backend below the simulated world")


def _speaking(original: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except RuntimeError as error:
            text = str(error)
            is_about_lazy = "lazy" in text.lower()
            if is_about_lazy:
                error.args = (messages.outward(text),)
            if is_about_lazy or "device" in text:  # "q tensor must be on the same device as the input tensor"
                name = getattr(original, "__name__", "function")
                hooks.failed(error, f"torch.{name}", args, kwargs)  # including host tensors, one of which is the reason
            raise

    return call


def _attention(original: Any) -> Any:
    aten = torch.ops.aten

    def scaled_dot_product_attention(
        query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
        *, scale: Any = None, enable_gqa: bool = False,
    ) -> Any:  # fmt: skip
        if not (isinstance(query, Tensor) and isinstance(key, Tensor) and isinstance(value, Tensor)):
            return original(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
        gpu = query._devfix_gpu
        others = [item for item in (key, value, attn_mask) if item is not None]
        rest = (attn_mask, dropout_p, is_causal)
        casts = torch.is_autocast_enabled(kinds.now().name)
        apart = casts or gpu < 0 or any(overridden(item) or item._devfix_gpu != gpu for item in (query, *others))
        fused = gpu >= 0 and not torch.backends.cuda.math_sdp_enabled() and kinds.now().is_cuda
        forward = is_forward_mode() and query.is_cuda  # `gpu` is -1 within transforms
        if fused or forward:
            one, two, three, mask = (_cast(item) if casts else item for item in (query, key, value, attn_mask))
            asked = attention.Asked(one, two, three, mask, dropout_p, is_causal, enable_gqa)
            if fused:
                attention.check(asked)
            if forward:
                attention.check_tangents(asked, (query, key, value))
        if attn_mask is not None and gpu >= 0 and kinds.now().is_cuda and attn_mask._devfix_gpu != gpu:
            attention.check_mask(attention.Asked(query, key, value, attn_mask, dropout_p, is_causal, enable_gqa))
        if apart or _asks_gradient(attn_mask) or dropout_p:
            with _by_math() if fused else contextlib.nullcontext():
                return original(query, key, value, *rest, scale=scale, enable_gqa=enable_gqa)
        by_flash = torch.backends.cuda.flash_sdp_enabled() or torch.backends.cuda.math_sdp_enabled()
        if (
            by_flash
            and composite_path.possible(query, key, value)
            and (attn_mask is None or composite_path.possible(attn_mask))
        ):
            keywords = {"scale": scale, "enable_gqa": enable_gqa}
            # The CPU's flash attention of 2.6 takes no grouped heads, as CUDA's does.
            with _by_math() if fused and enable_gqa else contextlib.nullcontext():
                return composite_path.run(original, _func, (query, key, value, *rest), keywords, gpu)
        if not by_flash:
            with _by_math():
                return original(query, key, value, *rest, scale=scale, enable_gqa=enable_gqa)
        choice = aten._fused_sdp_choice(query, key, value, *rest, scale=scale, enable_gqa=enable_gqa)
        if choice != 1:
            return original(query, key, value, *rest, scale=scale, enable_gqa=enable_gqa)
        if attn_mask is not None and attn_mask.dtype is torch.bool:
            attn_mask = torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill_(~attn_mask, float("-inf"))
        flash = aten._scaled_dot_product_flash_attention_for_cpu
        return flash(query, key, value, dropout_p, is_causal, attn_mask=attn_mask, scale=scale)[0]

    return scaled_dot_product_attention


def _by_math() -> Any:
    """Choose the backend that the CPU has for all tensors, where CUDA has one for these."""
    return torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)


def _cast(tensor: Any) -> Any:
    """Return a tensor as autocast hands it to attention, as far as the choice of a kernel can tell."""
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point() or tensor.dtype is torch.float64:
        return tensor
    return tensor.detach().to(torch.get_autocast_dtype(kinds.now().name))


def _asks_gradient(mask: Any) -> bool:
    return isinstance(mask, Tensor) and mask.requires_grad


def install() -> None:
    """Patch what would otherwise select, or report, a lazy device."""
    register_kernels(dict.fromkeys(_WHOLE, _refuse_call), "Lazy")
    ctc.install()
    attention.install()
    for owner, names in _SPEAKING.items():
        for name in names:
            if name in vars(owner) or hasattr(owner, name):
                wrap(owner, name, _speaking)
    # CUDA builds have cuDNN, which would accept weights that claim to be on a GPU.
    replace(torch, "_use_cudnn_rnn_flatten_weight", lambda: False)
    if hasattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu"):
        wrap(torch._C._nn, "scaled_dot_product_attention", _speaking)
        wrap(torch._C._nn, "scaled_dot_product_attention", _attention)
        one = torch._C._nn.scaled_dot_product_attention
        replace(torch.nn.functional, "scaled_dot_product_attention", one)
