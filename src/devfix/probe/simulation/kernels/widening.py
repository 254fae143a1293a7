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
    """Return whether an operator failed because the CPU lacks a dtype that CUDA has, and makes or writes tensors."""
    return (plan.fresh or plan.pure or bool(plan.written)) and dtypes.takes(plan.base, error, plan.name)


def try_run(plan: Any, cells: Any, keywords: dict[str, Any]) -> Any:
    """Do the same as `run`; return None where the wider dtype is refused too, whose error would name that one.

    A tensor of integers beside another one may be of indices, which stay as they are.
    """
    for only in (None, 0):
        try:
            return run(plan, cells, keywords, only)
        except RuntimeError:
            if not any(isinstance(cell, Tensor) and cell.dtype is torch.int64 for cell in cells):
                break
    return None


def run(plan: Any, cells: Any, keywords: dict[str, Any], only: int | None = None) -> Any:
    """Run an operator on wider copies of its tensors; what it makes or writes has the narrow dtype again.

    With `only`, the tensor in that place alone is wider, and those by keyword, which are outputs.
    """
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
            return originals.get(id(value)) if id(value) in originals else _narrow(value, wide, narrow)
        return type(value)(back(item) for item in value) if isinstance(value, (list, tuple)) else value

    given = [widen(cell) if only in (None, place) else cell for place, cell in enumerate(cells)]
    named = {name: widen(value) for name, value in keywords.items()}
    result = plan.op(*given, **named)
    originals = {}
    for place in plan.written:
        before, after = (cells[place], given[place]) if isinstance(place, int) else (keywords[place], named[place])
        if after is not before:
            originals[id(after)] = before
            before.resize_(after.shape).copy_(after)
    return back(result)


def _narrow(value: Any, wide: torch.dtype, narrow: torch.dtype) -> Any:
    return value.to(narrow) if value.dtype is wide else value
