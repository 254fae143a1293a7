"""Factorizations whose `driver` names a library: LAPACK on the CPU, cuSOLVER and MAGMA on CUDA.

XPU runs them on the CPU: `fallback_list` in src/ATen/native/xpu/XPUFallback.cpp of torch-xpu-ops.
"""

from __future__ import annotations

from typing import Any

import torch

from .. import hooks
from ..accelerators import kinds
from ..checks import mismatch
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
    return _place(plan, plan.op(*cells, **keywords), func, args, kwargs, gpu)


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
        plan.op(*cells, **{**keywords, "driver": "gels"})
        raise RuntimeError("torch.linalg.lstsq: `driver` other than `gels` is not supported on CUDA")
    try:
        result = plan.op(*cells, **{**keywords, "driver": "gels"})
    except torch.linalg.LinAlgError:  # type: ignore[attr-defined]
        # LAPACK requires full rank; CUDA's QR divides by zero and raises nothing.
        solution, residuals, rank, values = plan.op(*cells, **{**keywords, "driver": "gelsy"})
        result = (solution, residuals, rank.new_empty(0), values)
    return _place(plan, result, func, args, kwargs, gpu)


def _is_xpu() -> bool:
    return kinds.now() is kinds.XPU


def _place(plan: Any, result: Any, func: Any, args: Any, kwargs: Any, gpu: int | None) -> Any:
    if gpu is not None and gpu >= 0:
        result = rewrap(plan, result, args, kwargs, gpu)
    hooks.on_created(result, func, args, kwargs)
    return result
