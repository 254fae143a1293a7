"""Summarize the values of tensors, and check whether an operator receives those of the failing one.

A patch can fix the devices and pass another tensor on the GPU only, with no additional operator (`first + first` for
`first + bias`). Worlds without a GPU do not show that; the values at the failing location do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..inspection import operands
from ..provenance import records
from ..recipes import tensors

Values = tuple[float, float]  # a weighted sum, and the sum of magnitudes
MOST = 4096  # values of one tensor that are summed, evenly spaced
_CLOSE = 1e-2  # relative to the sum of magnitudes: a patch may cast to a type of three digits
# In-place operators whose schema does not say so.
_WRITTEN = frozenset({"running_mean", "running_var"})

_given: list[Values] = []
_weights: list[Any] = []


def want(given: Iterable[Values]) -> None:
    """Start to look for an operator that receives all of these."""
    _given[:] = given


def is_active() -> bool:
    """Return whether any values are looked for."""
    return bool(_given)


def weights() -> Any:
    """Return a weight for each position, from 0.5 to 1.5, in an irregular order.

    Without weights every softmax would have the same sum, and so would a permutation.
    """
    if not _weights:
        with _disable_current_modes():
            _weights.append(
                torch.arange(MOST, dtype=torch.float64, device="cpu").mul_(0.7548776662466927).frac_().add_(0.5)
            )
    return _weights[0]


def weigh(value: Any, is_transposed: bool = False) -> Values | None:
    """Return the sums of a tensor, of a number as a tensor, or of a matrix's transpose; None without values."""
    try:
        with _disable_current_modes(), torch.no_grad():
            if isinstance(value, (bool, int, float)):  # a tensor would count as one of the program's
                total = float(value) * float(weights()[0])
                return (total, abs(total)) if total - total == 0 else None
            if value.layout is not torch.strided or value.device.type == "meta":
                return None
            held = getattr(value, "_devfix_held", None)
            whole = (value if held is None else held).detach()
            values = tensors.host(_some(whole.mT if is_transposed else whole))
            if values.is_complex():
                values = values.real + values.imag
            values = values.to(torch.float64)
            parts = values * weights()[: values.numel()]
            total, size = float(parts.sum()), float(parts.abs().sum())
            return (total, size) if total - total == 0 else None  # neither infinite nor NaN
    except Exception:  # a kind of tensor without accessible values
        return None


def _some(tensor: Any) -> Any:
    """Return at most `MOST` values, one of each part: only those are copied, since a tensor may fill a GPU."""
    size = tensor.numel()
    if size <= MOST:
        return tensor.reshape(-1)
    step = -(-size // MOST)
    first = torch.arange(0, size, step, device="cpu")
    # Not always the first of a part, which may be a column of a table.
    inside = ((weights()[: len(first)] - 0.5) * step).to(torch.int64)
    at = (first + inside).clamp_(max=size - 1).to(tensor.device)
    # An expanded tensor may have more values than fit into memory, so it is not materialized.
    return tensor.view(-1)[at] if tensor.is_contiguous() else tensor[torch.unravel_index(at, tensor.shape)]


def checksum_of(func: Any, argument: str, tensor: Any) -> dict[str, float] | None:
    """Return the checksum of an operator's argument; None if it writes to it, or there are no values."""
    sums = None if argument.partition("[")[0] in _written_names(func) else weigh(tensor)
    return None if sums is None else {"total": sums[0], "size": sums[1]}


def are_given(func: Any, args: Any, kwargs: Any) -> bool:
    """Return whether an operator that has run received all the values that are looked for, each in one argument.

    A matrix may also be given transposed: in inference mode `linear` runs as a whole, and as `addmm` where that fails.
    """
    with records.aside():
        return _are_given(func, args, kwargs)


def _are_given(func: Any, args: Any, kwargs: Any) -> bool:
    written = _written_names(func)
    found = [tensor for name, tensor in operands.arguments(func, args, kwargs) if name.partition("[")[0] not in written]
    numbers = [each for each in (*args, *(kwargs or {}).values()) if isinstance(each, (bool, int, float))]
    left = [known for known in map(_weigh_both, [*found, *numbers]) if known]
    for wanted_values in _given:
        like = next((each for each in left if any(_is_close(one, wanted_values) for one in each)), None)
        if like is None:
            return False
        left.remove(like)
    return True


def _weigh_both(value: Any) -> list[Values]:
    """Return the sums of a tensor or number, and of the transpose of a matrix."""
    is_matrix = isinstance(value, torch.Tensor) and value.dim() == 2 and min(value.shape) > 1
    known = [weigh(value), weigh(value, is_transposed=True) if is_matrix else None]
    return [each for each in known if each is not None]


def _is_close(one: Values, other: Values) -> bool:
    return abs(one[0] - other[0]) <= _CLOSE * max(one[1], other[1]) + 1e-9


def _written_names(func: Any) -> frozenset[str]:
    schema = getattr(func, "_schema", None)
    if schema is None:
        return _WRITTEN
    infos = ((each.name, each.alias_info) for each in schema.arguments)
    return _WRITTEN | {name for name, info in infos if info is not None and info.is_write}
