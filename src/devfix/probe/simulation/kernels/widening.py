"""Compute in a wider dtype what CUDA supports for a dtype and the CPU does not, and convert back.

CUDA supports many operators in half precision, and a few (`histc`) for integers, for which the CPU raises
NotImplementedError.
"""

from __future__ import annotations

from typing import Any

import torch

from ..operator_tables import dtypes
from ..tensors.tensor import Tensor

_WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}


def helps(error: Exception, plan: Any) -> bool:
    """Return whether an operator failed because the CPU lacks a dtype that CUDA has, and only creates new tensors."""
    return (plan.fresh or plan.pure) and dtypes.takes(plan.base, error)


def run(plan: Any, cells: Any, keywords: dict[str, Any]) -> Any:
    """Run an operator on wider copies of its tensors; its results have the narrow dtype again."""
    narrow = next((cell.dtype for cell in cells if isinstance(cell, Tensor)), None)
    if narrow is None:
        raise NotImplementedError
    wide = _WIDER.get(narrow) or dtypes.THROUGH.get(narrow)
    if wide is None:
        raise NotImplementedError

    def widen(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.to(wide) if value.dtype is narrow else value
        return [widen(item) for item in value] if isinstance(value, (list, tuple)) else value

    def back(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.to(narrow) if value.dtype is wide else value
        return type(value)(back(item) for item in value) if isinstance(value, (list, tuple)) else value

    return back(plan.op(*map(widen, cells), **{name: widen(value) for name, value in keywords.items()}))
