"""The casts of autocast on MPS: the operators that the AutocastMPS block of ATen/autocast_mode.cpp registers.

Unlike those of CUDA and XPU, this list is in no header of the wheel. It is that of 2.13; a name that the installed
torch lacks is left out.
"""

from __future__ import annotations

# fmt: off
POLICIES: dict[str, list[str]] = {
    "LOWER_PRECISION_FP": [
        "_convolution", "_convolution.deprecated", "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul",
        "conv1d", "conv2d", "conv_tbc", "conv_transpose1d", "conv_transpose2d.input", "convolution", "einsum",
        "linalg_multi_dot", "linear", "lstm_cell", "matmul", "mm", "mv", "prelu",
    ],
    "FP32": [
        "acos", "asin", "batch_norm", "binary_cross_entropy_with_logits", "cdist", "cosh", "cosine_embedding_loss",
        "cosine_similarity", "cumprod", "cumsum", "dist", "erfinv", "exp", "expm1", "frobenius_norm.dim", "group_norm",
        "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "layer_norm", "linalg_matrix_norm",
        "linalg_matrix_norm.str_ord", "linalg_vector_norm", "log", "log10", "log1p", "log2", "log_softmax.int",
        "logsumexp", "margin_ranking_loss", "mse_loss", "multi_margin_loss", "multilabel_margin_loss",
        "native_layer_norm", "nll_loss", "nll_loss2d", "nuclear_norm", "nuclear_norm.dim", "pdist", "poisson_nll_loss",
        "pow.Scalar", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "prod", "prod.dim_int", "reciprocal", "renorm", "rsqrt",
        "sinh", "smooth_l1_loss", "soft_margin_loss", "softmax.int", "softplus", "sum", "sum.dim_IntList", "tan",
        "triplet_margin_loss",
    ],
    "FP32_SET_OPT_DTYPE": [],
    "PROMOTE": [
        "addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "grid_sampler", "index_put", "scatter_add",
        "tensordot",
    ],
}
# fmt: on
