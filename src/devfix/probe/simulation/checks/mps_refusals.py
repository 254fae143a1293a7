"""Errors of MPS's kernels for tensors that are on MPS: dtypes, sizes and flags that other devices take.

Each entry is read from a function in ATen/native/mps/operations. The errors of LinearAlgebra.mm are also quoted by the
operator database of PyTorch 2.13 (torch/testing/_internal/opinfo/definitions/linalg.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..operator_tables.dtypes import HALVES, INTEGERS, Check, refuse_by

_COMPLEX = frozenset((torch.complex32, torch.complex64))
_NOT_FLOATING = INTEGERS | {torch.bool} | _COMPLEX


def refuses(*names: str) -> Callable[[Check], Check]:
    """Register what the operators with these base names refuse."""

    def register(check: Check) -> Check:
        refuse_by("mps", dict.fromkeys(names, check))
        return check

    return register


def _argument(cells: Sequence[Any], keywords: dict[str, Any], place: int, name: str, default: Any) -> Any:
    return cells[place] if len(cells) > place else keywords.get(name, default)


@refuses("convolution", "_convolution")
def convolving(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`_mps_convolution_impl` and `_mps_convolution_transpose` in Convolution.mm."""
    source = cells[0]
    if source.dtype in _NOT_FLOATING:
        raise RuntimeError("Convolution is supported only for Floating types")
    if _argument(cells, keywords, 6, "transposed", False) and source.dim() == 5 and source.dtype in HALVES:
        raise RuntimeError("ConvTranspose 3D with BF16 or FP16 types is not supported on MPS")


@refuses("index_reduce")
def reducing(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`index_reduce_mps_out` in Indexing.mm."""
    if cells[0].dtype is torch.int64:
        raise RuntimeError("index_reduce for MPS does not support torch.long dtype")


@refuses("linalg_lu_factor_ex", "linalg_lu", "_linalg_det", "_linalg_slogdet")
def factoring(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`linalg_lu_factor_ex_out_mps_impl` in LinearAlgebra.mm, which the determinants call too."""
    if cells[0].dtype in _COMPLEX:
        raise RuntimeError("linalg.lu_factor(): MPS doesn't support complex types.")
    if not keywords.get("pivot", True):
        raise RuntimeError("linalg.lu_factor(): MPS doesn't allow pivot == False.")


@refuses("_linalg_solve_ex")
def solving(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`linalg_solve_out_mps_impl` in LinearAlgebra.mm."""
    if cells[0].dtype in _COMPLEX:
        raise RuntimeError("linalg.lu_factor(): MPS only supports floats.")


@refuses("linalg_inv_ex")
def inverting(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`linalg_inv_ex_out_mps_impl` in LinearAlgebra.mm."""
    if cells[0].dtype in _COMPLEX:
        raise RuntimeError("linalg_inv: not supported for complex types yet!")


@refuses("linalg_solve_triangular", "triangular_solve")
def solving_triangular(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`linalg_solve_triangular_mps_impl` in LinearAlgebra.mm."""
    if any(cell.dtype in _COMPLEX for cell in cells[:2]):
        raise RuntimeError("linalg.solve.triangular(); Only float is supported!")


@refuses("cholesky_inverse")
def inverting_factors(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`cholesky_inverse_kernel_impl_mps` in LinearAlgebra.mm."""
    if cells[0].dtype in _COMPLEX:
        raise RuntimeError("cholesky_inverse: MPS only supports float type!")


@refuses("_adaptive_avg_pool2d", "adaptive_avg_pool2d")
def averaging(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`adaptive_avg_pool2d_out_mps` in AdaptivePooling.mm."""
    _pool(cells[0].shape[-2:], _argument(cells, keywords, 1, "output_size", ()), averages=True)


@refuses("_adaptive_avg_pool2d_backward")
def averaging_back(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`adaptive_avg_pool2d_backward_mps` in AdaptivePooling.mm."""
    _pool(cells[1].shape[-2:], cells[0].shape[-2:], averages=True)


@refuses("adaptive_max_pool2d")
def finding_most(cells: Sequence[Any], keywords: dict[str, Any]) -> None:
    """`adaptive_max_pool2d_out_mps` in AdaptivePooling.mm."""
    _pool(cells[0].shape[-2:], _argument(cells, keywords, 1, "output_size", ()), averages=False)


def _pool(source: Sequence[int], result: Sequence[int], averages: bool) -> None:
    """Raise as `set_kernel_params` in AdaptivePooling.mm does."""
    pairs = [(int(one), int(two)) for one, two in zip(source, result)]  # noqa: B905 - equally long
    if any(not one or not two for one, two in pairs):
        return
    shrinks, grows = (all(one >= two for one, two in pairs), all(one <= two for one, two in pairs))
    if not shrinks and not grows:
        what = "Input height and width must both be greater than, or equal to, or lesser than output height and width"
        raise RuntimeError(f"Adaptive pool MPS: {what}")
    if not averages:
        return
    first, second = ("input", "output") if pairs[0][0] >= pairs[0][1] else ("output", "input")
    if any(max(pair) % min(pair) for pair in pairs):
        raise RuntimeError(
            f"Adaptive pool MPS: {first} sizes must be divisible by {second} sizes. Non-divisible input sizes are not "
            "implemented on MPS device yet. For now, you can manually transfer tensor to cpu in this case. Please "
            "refer to [this issue](https://github.com/pytorch/pytorch/issues/96056)"
        )
