"""The names of CUDA's kernels and types in messages, where the CPU's kernel, which computes, would name its own.

Each name is the one that the kernel's source in ATen/native/cuda gives to its dispatch macro.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..accelerators import kinds

# By the operator's base name; the CPU has one name for kernels that CUDA names apart.
BY_OPERATOR = {
    "upsample_linear1d": "upsample_linear1d_out_frame", "upsample_trilinear3d": "upsample_trilinear3d_out_frame",
    **dict.fromkeys(("upsample_nearest1d", "_upsample_nearest_exact1d"), "upsample_nearest1d_out_frame"),
    **dict.fromkeys(("upsample_nearest2d", "_upsample_nearest_exact2d"), "upsample_nearest2d_out_frame"),
    **dict.fromkeys(("upsample_nearest3d", "_upsample_nearest_exact3d"), "upsample_nearest3d_out_frame"),
    "linalg_cross": "cross_cuda", "masked_scatter": "masked_scatter_", "digamma": "digamma_cuda", "mode": "cuda_mode",
    "tril_indices": "tril_indices_cuda", "triu_indices": "triu_indices_cuda", "_fused_rms_norm": "LayerNormKernelImpl",
    "adaptive_max_pool2d": "adaptive_max_pool2d_cuda", "reflection_pad1d": "reflection_pad1d_out",
    "reflection_pad2d": "reflection_pad2d_out_template", "reflection_pad3d": "reflection_pad3d_out_cuda",
    **{f"replication_pad{n}d": f"replication_pad{n}d_cuda" for n in (1, 2, 3)},
    **dict.fromkeys(("native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update"),
                    "batch_norm_stats_cuda"),
    "exp2": "exp2_cuda", "segment_reduce": "segment_reduce_cuda", "put": "put_cuda",
    "binary_cross_entropy": "binary_cross_entropy_out_cuda", "_embedding_bag": "embedding_bag_cuda",
    "_embedding_bag_forward_only": "embedding_bag_cuda", "_sparse_softmax": "softmax",
}  # fmt: skip

# By the name of the CPU's kernel.
BY_KERNEL = {
    "cumsum_out_cpu": "cumsum_cuda", "cumprod_out_cpu": "cumprod_cuda", "grid_sampler3d_cpu": "grid_sampler_3d_cuda",
    "grid_sampler_2d_cpu_kernel_impl": "grid_sampler_2d_cuda", "log_sigmoid_cpu": "log_sigmoid_forward_cuda",
    "maximum_cpu": "max_elementwise_cuda", "minimum_cpu": "min_elementwise_cuda",
    **dict.fromkeys(("lt_cpu", "le_cpu", "gt_cpu", "ge_cpu"), "compare_cuda"),
    "multi_margin_loss_cpu_kernel": "multi_margin_loss_cuda", "histogram_cpu": "histc",
    **dict.fromkeys(("softmax_lastdim_kernel_impl", "softmax_kernel_impl", "log_softmax_lastdim_kernel_impl",
                     "log_softmax_kernel_impl", "vec_log_softmax_lastdim_kernel", "softmax"), "host_softmax"),
    "nll_loss_out_frame": "nll_loss_forward_reduce_cuda_kernel_2d", "addmm_impl_cpu_": "addmm_cuda",
    "addmv_impl_cpu": "addmv_impl_cuda", "bmm": "baddbmm_cuda", "baddbmm": "baddbmm_cuda",
    "GeluKernelImpl": "GeluCUDAKernelImpl", "cholesky_cpu": "cholesky_cusolver",
    "lu_cpu": "lu_factor_cusolver", "add_stub": "ufunc_add_CUDA", "prod_out_cpu": "prod_cuda",
    "index_add_": "index_add_cuda_", "scatter_gather_scalar_cpu": "cuda_scatter_fill_base_kernel_func",
    "index_reduce_func_exclude_input_init": "index_reduce_func_cuda_exclude_input_init", "index_func_": "index_reduce",
    **dict.fromkeys(("div_cpu", "div_cpu_reduced_float"), "div_true_cuda"), "masked_fill": "masked_fill_",
    **dict.fromkeys(("clamp_min_scalar_cpu", "clamp_max_scalar_cpu"), "clamp_scalar_cuda"),
    **dict.fromkeys(("scatter_gather_tensor_cpu", "gather_expanded_index"), "cuda_scatter_gather_base_kernel_func"),
    **dict.fromkeys(("tril", "triu"), "triu_tril_cuda_template"), "max_all": "max_all_cuda", "min_all": "min_all_cuda",
    "adaptive_avg_pool2d": "adaptive_avg_pool2d_cuda", "addcmul_cpu_out": "addcmul_cuda",
    "addcdiv_cpu_out": "addcdiv_cuda", "lerp_kernel_scalar": "lerp_cuda", "lerp_kernel_tensor": "lerp_cuda",
    "logcumsumexp_out_cpu": "logcumsumexp_cuda", "nonzero_count_cpu": "nonzero_cuda", "pow": "pow_cuda",
    "median_out": "median_out_impl", "topk_cpu": "topk_out_cuda", "median_cpu": "median_out_impl",
    **dict.fromkeys(("softmax_backward_lastdim_kernel_impl", "softmax_backward_kernel_impl"), "host_softmax_backward"),
    "multilabel_margin_loss_forward_out_frame": "multilabel_margin_loss_forward_kernel",
    "fractional_max_pool2d_out_frame": "fractional_max_pool2d_out_cuda_frame",
    **{f"scatter_gather_tensor_cpu_reduce_{name}": "cuda_scatter_gather_base_kernel_func"
       for name in ("amax", "amin", "mean")},
}  # fmt: skip

_SPOKEN = re.compile(r"\"([\w.]+)\" not implemented for '(\w+)'")
_TYPE = re.compile(r"(?<=but got )(CPU(?=\w+Type instead)|torch\.(?=\w+Tensor instead))")
# Sentences of the CPU's kernels, and what is in their place in ATen/native/cuda (SoftMax.cu, SummaryOps.cu). Those of
# `sort` and `topk` name the CPU on CUDA too: ATen/native/Sorting.cpp has them for both.
_SENTENCES = {
    "softmax with half to float conversion is not supported on CPU": "conversion is supported for Half type only",
    "torch.histc: max must be larger than min": "max must be larger than min",
}
# The same for parts of sentences: of products (cuda/Blas.cpp), and of convolutions (Convolution.cpp), whose inputs
# oneDNN checks on the CPU.
_PARTS = (
    (re.compile(r"(?<=with arguments from the ')(\w*)CPU(?=' backend)"), r"\1CUDA"),
    (re.compile(r"^max_pool3d_with_indices_out_cpu_template\(\)"), "max_pool3d_with_indices_out_cuda_template()"),
    (re.compile(r"^expected m1 and m2 to have"), "expected mat1 and mat2 to have"),
    (re.compile(r"^torch\.histogram\(\): (bins must be > 0).*"), r"\1"),  # `_histc_cuda` in cuda/SummaryOps.cu
    # `masked_scatter__cuda` in cuda/IndexKernel.cpp
    (re.compile(r"^masked_scatter: (expected self and source to have same dtypes but got)"), r"masked_scatter_: \1 "),
    (
        re.compile(r"^Input type \(torch\.(\w+)\) and (weight|bias) type \(torch\.(\w+)\) should be the same.*"),
        r"Input type (torch.cuda.\1) and \2 type (torch.cuda.\3) should be the same",
    ),
)


def of_cuda(text: str, name: Callable[[str, str], str], dtype: str) -> str:
    """Return a message of the CPU's kernel as CUDA's has it; `name` gives its name for that of the CPU's and a dtype.

    The kernels of other kinds of device are only renamed.
    """
    if not kinds.now().is_cuda:
        return rename_kernel(text, name)
    line, _, rest = text.partition("\n")
    if line in _SENTENCES:
        return _SENTENCES[line].format(dtype=dtype) + (f"\n{rest}" if rest else "")
    for pattern, put in _PARTS:
        line = pattern.sub(put, line)
    text = line + (f"\n{rest}" if rest else "")
    return _TYPE.sub(lambda found: "CUDA" if found[1] == "CPU" else "torch.cuda.", rename_kernel(text, name))


def rename_kernel(text: str, name: Callable[[str, str], str]) -> str:
    """Return a message about a dtype with another name for the kernel."""
    return _SPOKEN.sub(lambda found: f"\"{name(found[1], found[2])}\" not implemented for '{found[2]}'", text)
