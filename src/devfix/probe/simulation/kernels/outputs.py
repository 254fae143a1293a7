"""Outputs of another dtype than the result, where CUDA's kernels and the CPU's differ in what they take."""

from __future__ import annotations

from typing import Any

import torch

from .. import modes
from ..accelerators import kinds
from ..operator_tables.dtypes import SCALARS
from ..operator_tables.plans import special
from .special_ops import run_instead


@special("aten::max.unary_out", "aten::min.unary_out")
def reduce_all(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Reduce all elements into an output: `make_reduction` in ATen/native/ReduceOpsUtils.h compares the dtypes."""
    source, out = args[0], kwargs["out"]
    if _is_of_other_dtype(source, out) and torch.can_cast(source.dtype, out.dtype):
        types = " and ".join(str(SCALARS.get(each.dtype)) for each in (out, source))
        raise RuntimeError(f"{plan.base}_all: provided dtype must match dtype of result. Got {types}.")
    return run_instead(func, args, kwargs)


@special("aten::histc.out")
def count(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Count into an output: `_histc_out_cuda` in cuda/SummaryOps.cu copies the counts there."""
    out = kwargs["out"]
    if not _is_of_other_dtype(args[0], out):
        return run_instead(func, args, kwargs)
    with modes.enter_mode():
        counts = torch.ops.aten.histc.default(*args, **{name: kwargs[name] for name in kwargs if name != "out"})
        return out.resize_(counts.shape).copy_(counts)


def _is_of_other_dtype(source: Any, out: Any) -> bool:
    """Return whether both tensors are on one GPU, and their dtypes differ."""
    together = 0 <= source._devfix_gpu == out._devfix_gpu
    return bool(together and source.dtype is not out.dtype and kinds.now().is_cuda)
