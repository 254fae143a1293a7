"""A softmax of halves with a result of float32, in one kernel, and its gradient: the CPU has neither."""

from __future__ import annotations

from typing import Any

import torch

_FORWARD = ("_softmax", "_log_softmax")
_BACKWARD = ("_softmax_backward_data", "_log_softmax_backward_data")


def helps(plan: Any, cells: Any) -> bool:
    """Return whether an operator that failed is one of these, in two dtypes (ATen/native/cuda/SoftMax.cu)."""
    if plan.base in _FORWARD:
        return bool(cells[2]) and cells[0].dtype is torch.float16
    return plan.base in _BACKWARD and cells[3] is torch.float16 and cells[0].dtype is torch.float32


def run(plan: Any, cells: Any, keywords: dict[str, Any]) -> Any:
    """Compute in float32; the gradient is one of halves."""
    if plan.base in _FORWARD:
        return plan.op(cells[0].float(), cells[1], False, **keywords)
    return plan.op(cells[0], cells[1], cells[2], torch.float32, **keywords).to(torch.float16)
