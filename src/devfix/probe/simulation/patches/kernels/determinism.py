"""Deterministic algorithms: operators without one on CUDA raise, or warn, if a program requests them."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from ...accelerators import messages
from ...dispatcher import graph_capture
from ...patching import wrap
from ...tensors.unwrapping import tensors_of

# The operators' base names, and the names in the message; those that depend on an argument are below.
_ALERTS = {
    "avg_pool3d_backward": "avg_pool3d_backward_cuda",
    "max_pool3d_with_indices_backward": "max_pool3d_with_indices_backward_cuda",
    "_adaptive_avg_pool2d_backward": "adaptive_avg_pool2d_backward_cuda",
    "_adaptive_avg_pool3d_backward": "adaptive_avg_pool3d_backward_cuda",
    "adaptive_max_pool2d_backward": "adaptive_max_pool2d_backward_cuda",
    "fractional_max_pool2d_backward": "fractional_max_pool2d_backward_cuda",
    "fractional_max_pool3d_backward": "fractional_max_pool3d_backward_cuda",
    "max_unpool2d": "max_unpooling2d_forward_out",
    "max_unpool3d": "max_unpooling3d_forward_out",
    "upsample_linear1d_backward": "upsample_linear1d_backward_out_cuda",
    "upsample_bilinear2d_backward": "upsample_bilinear2d_backward_out_cuda",
    "upsample_bicubic2d_backward": "upsample_bicubic2d_backward_out_cuda",
    "upsample_trilinear3d_backward": "upsample_trilinear3d_backward_out_cuda",
    **{f"_upsample_{way}2d_aa_backward": f"upsample_{way}2d_aa_backward_out_cuda" for way in ("bilinear", "bicubic")},
    "reflection_pad1d_backward": "reflection_pad1d_backward_out_cuda",
    "reflection_pad3d_backward": "reflection_pad3d_backward_out_cuda",
    **{f"replication_pad{n}d_backward": f"replication_pad{n}d_backward_cuda" for n in (1, 2, 3)},
    "nll_loss2d_forward": "nll_loss2d_forward_out_cuda_template",
    "_ctc_loss_backward": "ctc_loss_backward_gpu",
    "grid_sampler_2d_backward": "grid_sampler_2d_backward_cuda",
    "grid_sampler_3d_backward": "grid_sampler_3d_backward_cuda",
    "histc": "_histc_cuda",
    "bincount": "_bincount_cuda",
    "median": "median CUDA with indices output",
    "nanmedian": "median CUDA with indices output",
    "_embedding_bag_backward": "embedding_bag_backward_cuda_max",
    # ATen/native/cuda/ScatterGatherKernel.cu: products, and the older argument `reduce` of `scatter`.
    **dict.fromkeys(("scatter_reduce", "scatter_reduce_"), "scatter_reduce_cuda_prod_"),
    **dict.fromkeys(("scatter", "scatter_"), "scatter_reduce_cuda_kernel"),
    **dict.fromkeys(("index_reduce", "index_reduce_"), "index_reduce_cuda"),  # ATen/native/cuda/Indexing.cu
    # ATen/native/TensorAdvancedIndexing.cpp: sums too, where they are atomic; the gradient of `take` is one.
    **dict.fromkeys(("put_", "put"), "put_"),
}
# As the libraries of CUDA's kernels answer (`benchmarks/cuda_library.py`, asked for 2.6, 2.7, 2.12 and 2.13).
_COUNTS_INTEGERS = messages.VERSION >= (2, 8)
if _COUNTS_INTEGERS:
    _ALERTS["histc"] = "_histc_cuda with floating point input"
if messages.VERSION < (2, 7):
    _ALERTS["reflection_pad2d_backward"] = "reflection_pad2d_backward_cuda"
if "kthvalue" in (torch.use_deterministic_algorithms.__doc__ or ""):  # newer releases have an algorithm for it
    _ALERTS["kthvalue"] = "kthvalue CUDA"  # ATen/native/cuda/Sorting.cpp
_MAX = 2  # the mode of an embedding bag
_NONE = 0  # the reduction of a loss
_REST = (
    "file an issue at https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic support for "
    "this operation."
)
_on: list[bool] = []


def _concerns(name: str, func: Any, args: Any, kwargs: Any) -> bool:
    source = args[0]
    if name in ("put_", "put"):
        return bool(args[3] if len(args) > 3 else (kwargs or {}).get("accumulate"))  # C++ alerts of the rest itself
    if name.startswith("scatter_reduce"):
        return bool(args[4] == "prod")
    if name.startswith("scatter"):
        way = (kwargs or {}).get("reduce", args[4] if len(args) > 4 else "")
        return str(func._schema.overload_name).startswith("reduce") and way != "add"
    if name == "nll_loss2d_forward":
        return bool(args[3] != _NONE)  # the kernel that reduces nothing adds nothing
    if name in ("median", "nanmedian"):
        return "dim" in func._schema.overload_name
    if name == "_embedding_bag_backward":
        return bool(args[8] == _MAX)
    if name == "bincount":
        return len(args) > 1 and args[1] is not None
    return name != "histc" or not _COUNTS_INTEGERS or source.is_floating_point() or source.is_complex()


def _alert(func: Any, args: Any, kwargs: Any) -> None:
    name = func._schema.name.split("::")[-1]
    if not any(tensor._devfix_gpu >= 0 for tensor in tensors_of(args, kwargs)) or not _concerns(
        name, func, args, kwargs
    ):
        return
    text = f"{_ALERTS[name]} does not have a deterministic implementation, but you set "
    if torch.is_deterministic_algorithms_warn_only_enabled():
        warnings.warn(
            f"{text}'torch.use_deterministic_algorithms(True, warn_only=True)'. You can {_REST}", stacklevel=3
        )
        return
    raise RuntimeError(
        f"{text}'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for this operation, or "
        f"you can use the 'warn_only=True' option, if that's acceptable for your application. You can also {_REST}"
    )


def _setting(original: Any) -> Any:
    def set_deterministic_algorithms(mode: bool, **kwargs: Any) -> None:
        original(mode, **kwargs)
        _follow(bool(mode))

    return set_deterministic_algorithms


def _follow(mode: bool) -> None:
    if mode and not _on:
        _on.append(True)
        graph_capture.watch(_ALERTS, _alert)
    elif _on and not mode:
        _on.clear()
        graph_capture.unwatch(_ALERTS, _alert)


def install() -> None:
    """Patch the setting."""
    _on.clear()
    wrap(torch._C, "_set_deterministic_algorithms", _setting)
    _follow(torch.are_deterministic_algorithms_enabled())
