"""Batch norm of dtypes that CUDA's kernels mix and the CPU's do not: statistics or weights wider than the input."""

from __future__ import annotations

from typing import Any

import torch

from ..operator_tables import dtypes
from ..tensors.tensor import Tensor

_RUNNING = (3, 4)  # the places of the running statistics, which are written though the schema does not say so
_BACKWARD = "native_batch_norm_backward"


def helps(plan: Any, cells: Any, keywords: dict[str, Any]) -> bool:
    """Return whether a failed operator is one of these, with dtypes that ATen/native/cuda/Normalization.cu takes."""
    if plan.base not in ("native_batch_norm", _BACKWARD):
        return False
    found = {cell.dtype for cell in cells if isinstance(cell, Tensor)}
    return (
        len(found) > 1
        and all(dtype.is_floating_point for dtype in found)
        and dtypes.of_failed(plan.base, cells, keywords) is None
    )


def run(plan: Any, cells: Any, keywords: dict[str, Any]) -> Any:
    """Compute in the widest of the dtypes; each result has the dtype of the argument that it is for."""
    found = [cell.dtype for cell in cells if isinstance(cell, Tensor)]
    wide = torch.float64 if torch.float64 in found else torch.float32
    given = [cell.to(wide) if isinstance(cell, Tensor) else cell for cell in cells]
    made = plan.op(*given, **keywords)
    if plan.base == _BACKWARD:
        likes = (cells[1], cells[2], cells[2])
        return tuple(
            one if one is None or like is None else one.to(like.dtype) for one, like in zip(made, likes, strict=True)
        )
    for place in _RUNNING:
        if isinstance(cells[place], Tensor) and given[place] is not cells[place]:
            cells[place].copy_(given[place])
    return made[0].to(cells[0].dtype), *made[1:]
