"""Refusals of CUDA's kernels beyond dtypes of one tensor: mixtures of dtypes that the CPU's kernels take.

Each entry names the function in ATen/native/cuda that it is read from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import torch

from ..operator_tables.convolutions import by_name
from ..operator_tables.dtypes import DTYPE_ERROR, HALVES, INTEGERS, REFUSED, SCALARS, Check, Refusal, refuse_by
from . import convolutions

# `caffe2::TypeMeta` prints these.
NAMES_IN_CPP = {
    torch.uint8: "unsigned char", torch.int8: "signed char", torch.int16: "short int", torch.int32: "int",
    torch.int64: "long int", torch.float32: "float", torch.float64: "double",
}  # fmt: skip


def refuses(name: str, dtypes: frozenset[torch.dtype] = frozenset()) -> Callable[[Check], Check]:
    """Register what the operator with this base name refuses, where its input has one of the dtypes.

    What the CPU refuses too, in other words, needs no dtypes: it is checked after it has failed.
    """

    def register(check: Check) -> Check:
        refuse_by("cuda", {name: Refusal(name, dtypes, check=check)})
        return check

    return register


@refuses("native_layer_norm", HALVES)
def normalizing_layers(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`LayerNormKernelImplInternal` in layer_norm_kernel.cu reads the weight and the bias as what the input holds."""
    source = cells[0]
    for given in (cells[2], cells[3]):
        if given is not None and given.dtype is not source.dtype and source.numel():
            raise _other_type(source, given)


@refuses("native_group_norm", HALVES)
def normalizing_groups(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`GroupNormKernelImplInternal` in group_norm_kernel.cu, which comes after the check of mixed dtypes."""
    source = cells[0]
    for given in (cells[1], cells[2]):
        if given is not None and source.dtype in HALVES and given.dtype is torch.float32:
            raise _other_type(source, given)


def normalizing_batches(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`cudnn_batch_norm` in ATen/native/cudnn/BatchNorm.cpp, or `batch_norm_cuda` in cuda/Normalization.cu."""
    source, weight, bias = cells[:3]
    if not _by_cudnn(source, weight, bias):
        exact = torch.float32 if source.dtype in HALVES else source.dtype
        for given in (weight, bias):
            if given is not None and given.dtype not in (exact, source.dtype):
                raise RuntimeError(f"expected scalar type {SCALARS[exact]} but found {SCALARS[given.dtype]}")
        return
    names = ("input", "weight", "bias", "running_mean", "running_var")
    # The weight of halves is of float32; what follows it is compared with it.
    pairs = [] if source.dtype is torch.float16 else [(0, 1)]
    pairs += [(1, place) for place in (2, 3, 4) if cells[place] is not None]
    for first, place in pairs:
        if cells[place].dtype is not cells[first].dtype:
            types = [f"torch.cuda.{SCALARS[cells[each].dtype]}Tensor" for each in (first, place)]
            one, two = (f"#{each + 1} '{names[each]}'" for each in (first, place))
            raise RuntimeError(
                f"Expected tensor for argument {one} to have the same type as tensor for argument {two}; but type "
                f"{types[0]} does not equal {types[1]} (while checking arguments for cudnn_batch_norm)"
            )


def _by_cudnn(source: Any, weight: Any, bias: Any) -> bool:
    """Return whether cuDNN normalizes a batch (`_batch_norm_impl_index` in ATen/native/Normalization.cpp)."""
    if weight is None or bias is None or not torch.backends.cudnn.enabled:
        return False
    if source.dim() == 2:  # as the libraries of 2.6 to 2.13 answer, and as in `cudnn_method`
        return False
    return source.dtype not in HALVES or (source.dtype, weight.dtype) == (torch.float16, torch.float32)


refuse_by("cuda", {"native_batch_norm": Refusal("batch_norm_stats_cuda", frozenset(), of_failed=normalizing_batches)})


@refuses("vdot", INTEGERS | {torch.bool, torch.complex32})
def multiplying_vectors(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`vdot_cuda` in cuda/Blas.cpp, which leaves to `dot` what is not complex; its checks come first."""
    refused = cells[0].dtype in (torch.bool, torch.complex32) or cells[0].dtype in INTEGERS
    if refused and cells[0].shape == cells[1].shape and cells[0].dtype is cells[1].dtype:
        kernel = "vdot" if cells[0].is_complex() else "dot"
        raise DTYPE_ERROR(f"\"{kernel}\" not implemented for '{SCALARS[cells[0].dtype]}'")


@refuses("masked_fill")
def filling(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`masked_fill__cuda` in cuda/Indexing.cu."""
    _refuse_mask(cells, "masked_fill only supports boolean masks, but got dtype {}", SCALARS)


@refuses("masked_scatter")
def scattering(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`masked_scatter__cuda` in cuda/IndexKernel.cpp, which names the type as C++ does."""
    _refuse_mask(cells, "masked_scatter_ only supports boolean masks, but got mask with dtype {}", NAMES_IN_CPP)


def _refuse_mask(cells: Sequence[Any], text: str, names: Mapping[torch.dtype, str]) -> None:
    mask = cells[1] if len(cells) > 1 else None
    if isinstance(mask, torch.Tensor) and mask.dtype is not torch.bool:
        raise RuntimeError(text.format(names.get(mask.dtype, SCALARS.get(mask.dtype))))


@refuses("index_select")
def selecting(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`index_select_out_cuda_impl` in cuda/Indexing.cu."""
    index = cells[2] if len(cells) > 2 else None
    if isinstance(index, torch.Tensor) and index.dim() > 1:
        raise RuntimeError("Index is supposed to be an empty tensor or a vector")
    if isinstance(index, torch.Tensor) and index.dtype not in (torch.int32, torch.int64):
        raise DTYPE_ERROR(f"\"index_select_out_cuda_impl\" not implemented for '{SCALARS.get(index.dtype)}'")


@refuses("nll_loss2d_forward")
def losing(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`nll_loss2d_forward_out_cuda_template` in cuda/NLLLoss2d.cu reads the target as int64."""
    target = cells[1]
    if target.dtype is not torch.int64:
        raise RuntimeError(f"expected scalar type Long but found {SCALARS.get(target.dtype)}")


@refuses("_embedding_bag")
@refuses("_embedding_bag_forward_only")
def embedding(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`_embedding_bag_cuda` in cuda/EmbeddingBag.cu."""
    weight, indices, scales = cells[0], cells[1], cells[6] if len(cells) > 6 else None
    if indices.dtype not in (torch.int32, torch.int64):
        text = "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got"
        kind = f"torch.cuda.{SCALARS.get(indices.dtype)}Tensor"
        raise RuntimeError(f"{text} {kind} instead (while checking arguments for embedding_bag_cuda)")
    if not weight.is_floating_point():
        raise DTYPE_ERROR(f"\"embedding_bag_cuda\" not implemented for '{SCALARS.get(weight.dtype)}'")
    if scales is not None and scales.dtype is not weight.dtype:
        raise _other_type(weight, scales)


_COMPLEX = frozenset((torch.complex32, torch.complex64, torch.complex128))


@refuses("histc", HALVES | _COMPLEX | {torch.bool})
def counting(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`_histc_cuda` in cuda/SummaryOps.cu, before the kernel is chosen."""
    if cells[0].dtype is torch.float16:
        raise RuntimeError("HalfTensor is not supported")
    if cells[0].dtype not in INTEGERS | {torch.float32, torch.float64}:
        raise DTYPE_ERROR(f"\"histc\" not implemented for '{SCALARS[cells[0].dtype]}'")


@cache  # asked for when it is raised: an exception of C++ costs milliseconds at start-up
def _refusal_to_sort() -> Exception:
    """Return what this release raises for complex numbers: older ones leave it to `sort_cuda_kernel`."""
    try:
        torch.ones(2, dtype=torch.complex64, device="cpu").sort()
    except Exception as error:  # a TypeError since 2.15
        if "complex dtypes" in str(error):
            return error.with_traceback(None)
    return RuntimeError("Sort currently does not support complex dtypes on CUDA.")


@refuses("sort")
def sorting(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`sort_cuda_kernel` in cuda/Sort.cpp of 2.6."""
    if cells[0].is_complex():
        raise type(_refusal_to_sort())(*_refusal_to_sort().args)


@refuses("median")
@refuses("nanmedian")
def ordering(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`median_impl` in cuda/Sorting.cpp sorts all elements, where no dimension is given."""
    if len(cells) == 1 and not keywords and cells[0].is_complex():
        raise type(_refusal_to_sort())(*_refusal_to_sort().args)


def convolving(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`check_input_same_type_as_parameters` in ATen/native/Convolution.cpp.

    On the CPU oneDNN checks it, where the processor computes the dtype; elsewhere a kernel fails in other words.
    """
    given = by_name(cells)
    if len({each.device for each in given.values() if isinstance(each, torch.Tensor)}) == 1:  # else it was checked
        convolutions.convolving("convolution", given)


for _name in ("convolution", "_convolution", "convolution_overrideable"):
    refuse_by("cuda", {_name: REFUSED[_name]._replace(of_failed=convolving)})


@refuses("bernoulli")
def drawing(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`bernoulli_kernel` in DistributionTemplates.h, which CUDA's kernels use."""
    chances = [each for each in cells if isinstance(each, torch.Tensor)][-1]
    if not chances.is_floating_point():
        raise RuntimeError(f"expected probabilities tensor to have floating type, got {SCALARS[chances.dtype]}")


@refuses("sspaddmm", frozenset((torch.float32, torch.float64)))
def adding_sparse_products(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`_sspaddmm_out_cuda` in ATen/native/sparse/cuda/SparseBlas.cpp."""
    raise RuntimeError("NYI: CUDA sspaddmm is not implemented")


@refuses("scatter_reduce", frozenset((torch.bool,)))
def reducing(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`cuda_scatter_gather_base_kernel` in cuda/ScatterGatherKernel.cu, which takes booleans for sums alone."""
    if cells[0].dtype is torch.bool and len(cells) > 4 and cells[4] != "sum":
        raise DTYPE_ERROR("\"cuda_scatter_gather_base_kernel_func\" not implemented for 'Bool'")


def _weighing(kernel: str) -> Callable[[Sequence[Any], dict[str, Any]], None]:
    """`softmax_sparse_cuda` and `log_softmax_sparse_cuda` in ATen/native/sparse/cuda/SoftMax.cu."""

    def check(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
        source = cells[0]
        if (source._devfix_held if source._devfix_gpu >= 0 else source)._nnz():
            raise DTYPE_ERROR(f"\"{kernel}\" not implemented for '{SCALARS[source.dtype]}'")

    return check


for _kernel in ("softmax", "log_softmax"):
    refuses(f"_sparse_{_kernel}", HALVES | INTEGERS)(_weighing(_kernel))


@refuses("linalg_ldl_solve", frozenset((torch.complex64, torch.complex128)))
def solving_by_factors(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`ldl_solve_kernel` in ATen/native/cuda/linalg/BatchLinearAlgebra.cpp, since cuSOLVER takes symmetric ones."""
    if keywords.get("hermitian"):
        text = "complex tensors with hermitian=True flag are not supported on CUDA."
        raise RuntimeError(f"torch.linalg.ldl_solve: {text}")


def _other_type(expected: Any, found: Any) -> RuntimeError:
    return RuntimeError(f"expected scalar type {SCALARS[expected.dtype]} but found {SCALARS[found.dtype]}")
