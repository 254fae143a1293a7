"""Integer division by zero: the CPU raises, while CUDA's kernels return some number."""

from __future__ import annotations

from typing import Any

import torch

from .. import hooks
from ..checks import mismatch
from ..operator_tables.plans import TENSOR, special
from ..tensors.tensor import Tensor
from ..tensors.unwrapping import MIXED, unwrap_all


def helps(error: Exception) -> bool:
    """Return whether an operator failed because an integer was divided by zero."""
    return "ZeroDivisionError" in str(error)


def run(plan: Any, cells: Any, keywords: dict[str, Any]) -> Any:
    """Divide by one where the divisor is zero, and write -1 there, as GPUs do for most quotients."""
    dividend, divisor, *rest = cells
    if not isinstance(divisor, Tensor):
        return plan.op(dividend, 1, *rest, **keywords).fill_(-1)
    if not isinstance(dividend, Tensor) and plan.kinds[0] == TENSOR:
        dividend = torch.as_tensor(dividend)
    zero = divisor == 0
    result = plan.op(dividend, divisor.masked_fill(zero, 1), *rest, **keywords)
    return result.masked_fill_(zero.expand(result.shape), -1)


@special("floor_divide_", "remainder_", "fmod_")
def divide_in_place(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Check for zeros before an in-place division: a kernel that raises midway has written some quotients already."""
    cells, keywords, gpu = unwrap_all(args, kwargs)
    if gpu == MIXED:
        return mismatch.judge(plan, func, args, kwargs, cells)
    target, divisor = cells[0], cells[1]
    whole = gpu is not None and gpu >= 0 and not target.is_floating_point() and not target.is_complex()
    if whole and (bool((divisor == 0).any()) if isinstance(divisor, Tensor) else divisor == 0):
        run(plan, cells, keywords)
    else:
        plan.op(*cells, **keywords)
    hooks.on_created(args[0], func, args, kwargs)
    return args[0]
