"""Refusals of CUDA's kernels beyond dtypes of one tensor: mixtures of dtypes that the CPU's kernels take.

Each entry names the function in ATen/native/cuda that it is read from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..operator_tables.dtypes import HALVES, REFUSED, SCALARS, Check, Refusal, refuse_by
from . import manual_checks


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


@refuses("native_batch_norm")
def normalizing_batches(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`cudnn_batch_norm` in ATen/native/cudnn/BatchNorm.cpp, which takes no narrower weight."""
    source, weight, bias = cells[0], cells[1], cells[2]
    if weight is None or bias is None or not torch.backends.cudnn.enabled:
        return
    if source.dtype in HALVES and (source.dtype, weight.dtype) != (torch.float16, torch.float32):
        return  # not by cuDNN (`_batch_norm_impl_index` in Normalization.cpp)
    names = ("input", "weight", "bias", "running_mean", "running_var")
    # The weight of halves is of float32, and the rest like it.
    first = 1 if source.dtype is torch.float16 else 0
    for place, given in enumerate(cells[first + 1 : 5], first + 2):
        expected = cells[first]
        if given is not None and given.dtype is not expected.dtype:
            types = [f"torch.cuda.{SCALARS[each.dtype]}Tensor" for each in (expected, given)]
            one, two = f"#{first + 1} '{names[first]}'", f"#{place} '{names[place - 1]}'"
            raise RuntimeError(
                f"Expected tensor for argument {one} to have the same type as tensor for argument {two}; but type "
                f"{types[0]} does not equal {types[1]} (while checking arguments for cudnn_batch_norm)"
            )


def convolving(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`check_input_same_type_as_parameters` in ATen/native/Convolution.cpp.

    On the CPU oneDNN checks it, where the processor computes the dtype; elsewhere a kernel fails in other words.
    """
    manual_checks.convolving("convolution", dict(zip(("input", "weight", "bias"), cells, strict=False)))


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


@refuses("linalg_ldl_solve", frozenset((torch.complex64, torch.complex128)))
def solving_by_factors(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`ldl_solve_kernel` in ATen/native/cuda/linalg/BatchLinearAlgebra.cpp, since cuSOLVER takes symmetric ones."""
    if keywords.get("hermitian"):
        text = "complex tensors with hermitian=True flag are not supported on CUDA."
        raise RuntimeError(f"torch.linalg.ldl_solve: {text}")


def _other_type(expected: Any, found: Any) -> RuntimeError:
    return RuntimeError(f"expected scalar type {SCALARS[expected.dtype]} but found {SCALARS[found.dtype]}")
