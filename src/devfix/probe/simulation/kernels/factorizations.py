"""Factorizations whose `driver` names a library: LAPACK on the CPU, cuSOLVER and MAGMA on CUDA.

XPU runs them on the CPU: `fallback_list` in src/ATen/native/xpu/XPUFallback.cpp of torch-xpu-ops.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from .. import hooks
from ..accelerators import kinds
from ..checks import mismatch
from ..operator_tables import dtypes
from ..operator_tables.plans import special
from ..tensors.unwrapping import MIXED, rewrap, unwrap_all

_DRIVERS = ("gesvd", "gesvdj", "gesvda")
_PAGE = "Check doc at https://pytorch.org/docs/stable/generated/torch.linalg.svd.html"


@special("_linalg_svd")
def decompose(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Compute singular values; on a GPU the driver may be one of cuSOLVER's three."""
    cells, keywords, gpu = unwrap_all(args, kwargs)
    if gpu == MIXED:
        return mismatch.judge(plan, func, args, kwargs, cells)
    driver = keywords.get("driver")
    if gpu is not None and gpu >= 0 and driver is not None and not _is_xpu():
        if driver not in _DRIVERS:
            raise RuntimeError(f"torch.linalg.svd: unknown svd driver {driver} in svd_cusolver computation. {_PAGE}")
        keywords["driver"] = None
    result = plan.op(*cells, **keywords)
    if gpu is not None and gpu >= 0 and kinds.now().is_cuda:
        # cuSOLVER computes V, whose transpose lies row by row (`svd_uses_cusolver` in BatchLinearAlgebra.cpp)
        result = (*result[:2], result[2].contiguous())
    return _place(plan, result, func, args, kwargs, gpu)


@special("linalg_lstsq")
def solve(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Solve least squares; on CUDA only with `gels`, which returns neither rank nor singular values."""
    cells, keywords, gpu = unwrap_all(args, kwargs)
    if gpu == MIXED:
        return mismatch.judge(plan, func, args, kwargs, cells)
    if gpu is None or gpu < 0 or _is_xpu():
        return _place(plan, plan.op(*cells, **keywords), func, args, kwargs, gpu)
    if keywords.get("driver") not in (None, "gels"):
        # The checks of shapes and dtypes come before the one of the driver.
        with contextlib.suppress(torch.linalg.LinAlgError):  # type: ignore[attr-defined]
            plan.op(*cells, **{**keywords, "driver": "gels"})
        raise RuntimeError("torch.linalg.lstsq: `driver` other than `gels` is not supported on CUDA")
    try:
        result = plan.op(*cells, **{**keywords, "driver": "gels"})
    except torch.linalg.LinAlgError:  # type: ignore[attr-defined]
        # LAPACK requires full rank; CUDA's QR divides by zero and raises nothing.
        solution, residuals, rank, values = plan.op(*cells, **{**keywords, "driver": "gelsy"})
        result = (solution, residuals, rank.new_empty(0), values)
    return _place(plan, result, func, args, kwargs, gpu)


@special("linalg_lu_factor_ex", "linalg_lu")
def factor(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Factor into L and U; without pivoting on a GPU alone (ATen/native/BatchLinearAlgebra.cpp)."""
    cells, keywords, gpu = unwrap_all(args, kwargs)
    if gpu == MIXED:
        return mismatch.judge(plan, func, args, kwargs, cells)
    if plan.refused is not None and gpu is not None and gpu >= 0:
        dtypes.refuse(plan.refused, cells, keywords)
    if gpu is None or gpu < 0 or _pivots(cells, keywords):
        return _place(plan, plan.op(*cells, **keywords), func, args, kwargs, gpu)
    form = _in_one if plan.base == "linalg_lu_factor_ex" else _apart
    return _place(plan, form(*_eliminate(cells[0])), func, args, kwargs, gpu)


def _in_one(both: Any, rows: int) -> tuple[Any, Any, Any]:
    """Return L and U in one tensor, the pivots, and the first zero on each diagonal, from 1."""
    zero = both.diagonal(dim1=-2, dim2=-1) == 0
    info = torch.where(zero.any(-1), zero.int().argmax(-1) + 1, 0).to(torch.int32)
    pivots = torch.arange(1, rows + 1, dtype=torch.int32).expand(*both.shape[:-2], rows).clone()
    return both, pivots, info


def _apart(both: Any, rows: int) -> tuple[Any, Any, Any]:
    """Return P, which is empty without pivoting, L and U."""
    lower = both[..., :rows].tril(-1)
    lower.diagonal(dim1=-2, dim2=-1).fill_(1)
    return both.new_empty(0), lower, both[..., :rows, :].triu()


def _pivots(cells: list[Any], keywords: dict[str, Any]) -> bool:
    return bool(keywords.get("pivot", cells[1] if len(cells) > 1 else True))


def _eliminate(matrix: Any) -> tuple[Any, int]:
    """Return L and U of matrices in one tensor, and the number of their pivots: Gauss's elimination, row by row."""
    both = matrix.mT.clone(memory_format=torch.contiguous_format).mT  # by columns, as cuSOLVER has them
    rows = min(both.shape[-2:])
    for step in range(rows):
        both[..., step + 1 :, step] /= both[..., step, step, None]
        both[..., step + 1 :, step + 1 :] -= both[..., step + 1 :, step, None] * both[..., step, None, step + 1 :]
    return both, rows


def _is_xpu() -> bool:
    return kinds.now() is kinds.XPU


def _place(plan: Any, result: Any, func: Any, args: Any, kwargs: Any, gpu: int | None) -> Any:
    if gpu is not None and gpu >= 0:
        result = rewrap(plan, result, args, kwargs, gpu)
    hooks.on_created(result, func, args, kwargs)
    return result
