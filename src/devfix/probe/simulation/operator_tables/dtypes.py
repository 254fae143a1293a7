"""The dtypes that CUDA's kernels support if they differ from the CPU's, and the kernel names in their errors.

The sets follow `dtypesIfCUDA` of PyTorch's operator database, the names the dispatch macros of ATen/native/cuda.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from ..accelerators import kinds
from ..tensors.tensor import Tensor
from . import convolutions, kernel_names

HALVES = frozenset((torch.float16, torch.bfloat16))
INTEGERS = frozenset((torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64))
_FLOAT8 = frozenset((torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz))
_NO_PRODUCT = INTEGERS | {torch.bool, torch.complex32} | _FLOAT8
# What cuBLAS supports: the fast paths accept nothing else.
PRODUCTS = frozenset(
    (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)
)  # fmt: skip


def _dtype_error() -> type[RuntimeError]:
    """Return the exception that this release's kernels raise for a dtype: CUDA and CPU use the same macro.

    It is NotImplementedError in newer releases, and RuntimeError in 2.6.
    """
    one = torch.ones(1, device="cpu")  # the program may have set another default device before
    try:
        torch.gcd(one, one)
    except RuntimeError as error:
        return type(error)
    return NotImplementedError


DTYPE_ERROR = _dtype_error()


class Refusal(NamedTuple):
    """The kernel's name in the message, the unsupported dtypes, and whether it is reached for empty tensors.

    A `check` of all arguments is asked instead where the first tensor has one of the dtypes, and for what has failed;
    `of_failed` for what has failed alone.
    """

    kernel: str
    dtypes: frozenset[torch.dtype]
    reached_empty: bool = True
    check: Callable[[Sequence[Any], dict[str, Any]], None] | None = None
    of_failed: Callable[[Sequence[Any], dict[str, Any]], None] | None = None


# What elementwise products support, which the CPU's kernels compute of float8 too.
FACTORS = frozenset(dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)) - _FLOAT8
_CONVOLVING = Refusal("cudnn", INTEGERS | {torch.bool})

# Supported on the CPU and not on CUDA, by the operator's base name without the underscore of in-place variants.
REFUSED: dict[str, Refusal] = {
    **dict.fromkeys(("mm", "addmm", "_addmm_activation", "addbmm"), Refusal("addmm_cuda", _NO_PRODUCT | HALVES, False)),
    **dict.fromkeys(("bmm", "baddbmm"), Refusal("baddbmm_cuda", _NO_PRODUCT, False)),
    **dict.fromkeys(("mv", "addmv"), Refusal("addmv_impl_cuda", _NO_PRODUCT | HALVES, False)),
    "_sparse_addmm": Refusal("addmm_sparse_cuda", _NO_PRODUCT | HALVES),
    "mul": Refusal("mul_cuda", _FLOAT8),
    "dot": Refusal("dot", _NO_PRODUCT),
    "addcmul": Refusal("addcmul_cuda", frozenset((torch.complex32,))),
    "native_dropout": Refusal("fused_dropout", INTEGERS | {torch.bool}),
    **dict.fromkeys(("convolution", "_convolution", "convolution_overrideable"), _CONVOLVING),
    "avg_pool2d": Refusal("avg_pool2d_out_cuda_frame", INTEGERS),
    "avg_pool3d": Refusal("avg_pool3d_out_cuda", INTEGERS),
    "max_pool2d_with_indices": Refusal("max_pool2d_with_indices_out_cuda_frame", INTEGERS),
    "max_pool3d_with_indices": Refusal("max_pool3d_with_indices_out_frame", INTEGERS),
    "upsample_bilinear2d": Refusal("upsample_bilinear2d_out_frame", INTEGERS),
    "upsample_bicubic2d": Refusal("upsample_bicubic2d_out_frame", INTEGERS),
    "_upsample_bilinear2d_aa": Refusal("upsample_bilinear2d_out_frame", INTEGERS),
    "_upsample_bicubic2d_aa": Refusal("upsample_bilinear2d_out_frame", INTEGERS),
    "igamma": Refusal("igamma_cuda", HALVES),
    "igammac": Refusal("igammac_cuda", HALVES),
    "angle": Refusal("angle_cuda", HALVES),
    "native_dropout_backward": Refusal("masked_scale", INTEGERS | {torch.bool}),
    "index_reduce": Refusal("index_reduce", frozenset((torch.bool,))),
    "_trilinear": Refusal("baddbmm_cuda", _NO_PRODUCT),
}

# Operators without a CUDA kernel for half precision; the names of their kernels, if they are irregular.
_NO_HALF = {
    "linalg_cholesky_ex": "cholesky_cusolver", "cholesky": "cholesky_cusolver",
    **dict.fromkeys(("cholesky_inverse", "cholesky_solve", "_cholesky_solve_helper"), "cholesky_cuda_potrs"),
    "linalg_householder_product": "orgqr_cuda", "geqrf": "geqrf_cuda",
    "ormqr": "orgmr_cuda", "linalg_qr": "geqrf_cuda", "_linalg_svd": "svd_cuda_gesvdjBatched",
    "_linalg_eigh": "linalg_eigh_cuda", "linalg_eig": "linalg_eig_cuda", "_linalg_eigvals": "linalg_eig_cuda",
    "linalg_eigvals": "linalg_eig_cuda", "linalg_lu": "lu_factor_cusolver", "linalg_lu_factor_ex": "lu_factor_cusolver",
    "linalg_lu_solve": "lu_solve_cusolver", "linalg_ldl_factor_ex": "ldl_factor_looped_cusolver",
    "linalg_ldl_solve": "",
    "linalg_solve_triangular": "triangular_solve_cuda", "triangular_solve": "triangular_solve_cuda",
    "linalg_lstsq": "", "linalg_inv_ex": "", "_linalg_solve_ex": "", "_linalg_det": "", "_linalg_slogdet": "",
    "_cdist_forward": "cdist_cuda", "_cdist_backward": "cdist_cuda_backward", "_pdist_forward": "pdist_cuda",
    "_pdist_backward": "pdist_cuda_backward", "_ctc_loss": "ctc_loss_cuda", "_ctc_loss_backward": "ctc_loss_backward",
    "polar": "polar_cuda", "special_zeta": "", "special_ndtri": "", "special_log_ndtr": "", "special_erfcx": "",
    "special_airy_ai": "", "special_spherical_bessel_j0": "",
}  # fmt: skip
_NO_HALF_FAMILIES = ("special_bessel", "special_chebyshev", "special_hermite", "special_laguerre", "special_legendre",
                     "special_modified", "special_scaled", "special_shifted")  # fmt: skip
_COMPLEX_HALF = frozenset((
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "div", "exp", "diag", "log", "logaddexp", "pow",
    "sin", "sinh", "tan", "tanh", "rsqrt", "sqrt", "lerp", "angle", "trace", "sigmoid", "prod", "sum", "nansum",
    "convolution", "convolution_backward", "equal", "flip", "sigmoid_backward", "tanh_backward", "gather", "scatter",
    "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "native_channel_shuffle",
))  # fmt: skip
_ALSO_INTEGERS = {
    "aten::median": frozenset((torch.bool,)),
    "aten::nanmedian": frozenset((torch.bool,)),
    "histc": INTEGERS,
    "max_unpool2d": INTEGERS,
    "max_unpool3d": INTEGERS,
    "abs": frozenset((torch.bool,)),
    "trace": frozenset((torch.bool,)),
}
# What CUDA computes of integers, it computes as this dtype.
THROUGH = {**dict.fromkeys(INTEGERS, torch.float64), torch.bool: torch.uint8}

_SPOKEN = re.compile(r"\"([\w.]+)\" not implemented for '(\w+)'")
_NAMES = {
    "Byte": torch.uint8, "Char": torch.int8, "Short": torch.int16, "Int": torch.int32, "Long": torch.int64,
    "Half": torch.float16, "BFloat16": torch.bfloat16, "Float": torch.float32, "Double": torch.float64,
    "Bool": torch.bool, "ComplexHalf": torch.complex32, "ComplexFloat": torch.complex64,
    "ComplexDouble": torch.complex128,
    "Float8_e4m3fn": torch.float8_e4m3fn, "Float8_e5m2": torch.float8_e5m2,
    "Float8_e4m3fnuz": torch.float8_e4m3fnuz, "Float8_e5m2fnuz": torch.float8_e5m2fnuz,
}  # fmt: skip
SCALARS = {dtype: name for name, dtype in _NAMES.items()}


# What a kernel refuses beyond dtypes: it gets the positional arguments, and those by keyword, and raises.
Check = Callable[[Sequence[Any], dict[str, Any]], None]
# What oneDNN refuses on XPU could not be confirmed.
_REFUSED_BY: dict[str, dict[str, Refusal | Check]] = {"cuda": {**REFUSED}, "mps": {}, "xpu": {}}


def of_failed(base: str, cells: Sequence[Any], keywords: dict[str, Any]) -> RuntimeError | None:
    """Return the device's error for an operator that has failed on the CPU; None if its check finds nothing."""
    refusal = find_refusal(base)
    check = refusal.check or refusal.of_failed if isinstance(refusal, Refusal) else None
    if check is not None:
        try:
            check(cells, keywords)
        except RuntimeError as error:
            return error
    return None


def refuse_by(kind: str, checks: Mapping[str, Refusal | Check]) -> None:
    """Register what the kernels of a kind of device refuse, by the operator's base name."""
    _REFUSED_BY[kind].update(checks)


def find_refusal(base: str) -> Refusal | Check | None:
    """Return what the kernel of an operator refuses on the world's kind of device."""
    return _REFUSED_BY[kinds.now().name].get(base)


def base_of(schema_name: str) -> str:
    """Return the name of an operator in these tables."""
    return schema_name.rpartition("::")[2].rstrip("_")


def refuse(refusal: Refusal | Check, cells: Any, keywords: dict[str, Any], plan: Any = None) -> None:
    """Raise what the device raises for arguments that its kernel does not support: of CUDA, for the first tensor.

    Sizes, and dtypes of several tensors, are checked before the kernel is chosen: by the CPU's operator of the `plan`.
    """
    if not isinstance(refusal, Refusal):
        return refusal(cells, keywords)
    for cell in cells:
        if isinstance(cell, Tensor):
            if cell.dtype not in refusal.dtypes:
                return
            if refusal.kernel in _OF_SPARSE:
                _refuse_sparse(cells)
                if cell.dtype in HALVES or refusal.kernel == "addmm_sparse_cuda":
                    return
            if refusal.check is not None:
                return refusal.check(cells, keywords)
            if not refusal.reached_empty and any(isinstance(one, Tensor) and one.numel() == 0 for one in cells):
                return
            _check_sizes(plan, cells, keywords)
            if refusal.kernel == "cudnn":
                raise _of_convolution(cell.dtype, cells)
            raise DTYPE_ERROR(f"\"{refusal.kernel}\" not implemented for '{SCALARS[cell.dtype]}'")


# The products that `s_addmm_out_sparse_dense_cuda` in ATen/native/sparse/cuda/SparseCUDABlas.cpp computes of sparse
# tensors, in float32 and float64 alone.
_OF_SPARSE = ("addmm_cuda", "addmv_impl_cuda", "addmm_sparse_cuda")


def _refuse_sparse(cells: Any) -> None:
    for cell in cells:
        if isinstance(cell, Tensor) and cell.layout is not torch.strided and cell._nnz():
            if cell.layout is torch.sparse_coo:
                raise DTYPE_ERROR(f"\"addmm_sparse_cuda\" not implemented for '{SCALARS[cell.dtype]}'")
            if cell.dtype not in HALVES:  # `spmm` and `spmv` in sparse/cuda/SparseBlasImpl.cpp
                kernel = "spmv" if any(isinstance(each, Tensor) and each.dim() == 1 for each in cells) else "spmm"
                raise DTYPE_ERROR(f"\"{kernel}\" not implemented for '{SCALARS[cell.dtype]}'")


def _check_sizes(plan: Any, cells: Any, keywords: dict[str, Any]) -> None:
    if plan is None or plan.random:
        return

    def kept(value: Any) -> Any:
        return value.clone() if plan.written and isinstance(value, Tensor) else value

    try:
        plan.op(*map(kept, cells), **{name: kept(value) for name, value in keywords.items()})
    except (RuntimeError, IndexError) as error:
        if "not implemented for" not in str(error):
            raise


def _of_convolution(dtype: torch.dtype, cells: Any) -> RuntimeError:
    """Return the error of cuDNN, which names 32-bit and 8-bit types without supporting them, or of its replacement.

    `getCudnnDataTypeFromScalarType` in ATen/cudnn/Descriptors.cpp names int8 too, in the library of 2.13.
    """
    name = SCALARS[dtype]
    kernel = convolutions.on_gpu(convolutions.by_name(cells))
    if not kernel.is_of_cudnn:
        return DTYPE_ERROR(f"\"{kernel.value[1]}\" not implemented for '{name}'")
    if dtype in (torch.int32, torch.uint8, torch.int8):
        return RuntimeError("GET was unable to find an engine to execute this computation")
    return RuntimeError(f"getCudnnDataTypeFromScalarType() not supported for {name}")


def takes(base: str, error: Exception, name: str = "") -> bool:
    """Return whether CUDA has the kernel that the CPU has just rejected because of a dtype.

    `name` is the overload's.
    """
    spoken = _SPOKEN.search(str(error))
    dtype = _NAMES.get(spoken[2]) if spoken else None
    if dtype in HALVES:
        return base not in _NO_HALF and not base.startswith(_NO_HALF_FAMILIES)
    if dtype is torch.complex32:
        return base in _COMPLEX_HALF
    return dtype in _ALSO_INTEGERS.get(base, ()) or dtype in _ALSO_INTEGERS.get(name, ())


def cuda_message(text: str, base: str, dtype: torch.dtype | None = None) -> str:
    """Return a message of the CPU's kernel as CUDA's kernel has it, or with the name that another kind would give it.

    `dtype` is that of the operator's first tensor.
    """
    is_cuda = kinds.now().is_cuda
    backend = "cuda" if is_cuda else kinds.now().name

    def name(kernel: str, dtype: str) -> str:
        other = kernel if kernel in (*_OF_SPARSE, *convolutions.NAMES) else ""  # CUDA's name already
        if is_cuda and not other:
            other = _NO_HALF.get(base, "") if _NAMES.get(dtype) in HALVES else ""
            other = other or (REFUSED[base].kernel if base in REFUSED else "") or kernel_names.BY_OPERATOR.get(base, "")
            other = other or kernel_names.BY_KERNEL.get(kernel, "")
        return other or re.sub(r"_(vml_)?cpu(_reduced_float$|(?=_|$))", f"_{backend}", kernel)

    return kernel_names.of_cuda(text, name, SCALARS.get(dtype, "") if dtype is not None else "")
