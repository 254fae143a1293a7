"""Numbers as tensor arguments: PyTorch passes them to Python as such, and rarely accepts them back."""

from __future__ import annotations

from typing import Any

import torch

from .plans import TENSOR


def among(plan: Any, cells: Any) -> bool:
    """Return whether an argument is a number that must be a tensor, as traced graphs create for sizes."""
    return any(map(_is_number, plan.kinds, cells))


def is_refused(error: Exception) -> bool:
    """Return whether an operator failed because of such a number, and not by what it computes."""
    return "Expected a value of type 'Tensor" in str(error)


def as_tensors(plan: Any, cells: Any) -> list[Any]:
    """Return the arguments with such numbers as the tensors that they were, on the host whatever the default device."""
    count = len(plan.kinds)
    made = (torch.scalar_tensor(cell, dtype=_dtype(cell), device="cpu") if _is_number(kind, cell) else cell
            for kind, cell in zip(plan.kinds, cells))  # noqa: B905 - defaults are left out  # fmt: skip
    return [*made, *cells[count:]]


def _is_number(kind: int, cell: Any) -> bool:
    return kind == TENSOR and isinstance(cell, (int, float, complex))


def _dtype(number: Any) -> torch.dtype:
    if isinstance(number, bool):
        return torch.bool
    kinds = {int: torch.int64, float: torch.float64, complex: torch.complex128}
    return kinds[type(number)]
