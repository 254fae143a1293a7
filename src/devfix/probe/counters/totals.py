"""What a program computes, in short: how often each operator ran, where its results lay, and a sum over their values.

Held side by side for two runs, it shows a patch that changes what is computed, whether or not that is ever printed.
Only what works on values counts: what makes, moves, casts, cuts, joins or views tensors is what patches put in.
"""

from __future__ import annotations

import threading
from typing import Any

import torch

from ..simulation import operators
from . import checksums

_LEFT_OUT = frozenset({"cat", "stack", "copy_", "_copy_from", "fill_", "zero_", "resize_", "record_stream"})
_HOST, _DEVICE, _TOTAL, _SIZE = range(4)

_is_wanted = _is_weighed = False
_every: list[dict[str, list[Any]]] = []
_thread = threading.local()  # threads that count in one place lose counts
_names: dict[int, str] = {}
_with_workspace: set[int] = set()  # operators with results that are not for their caller
_kept: list[Any] = []  # keeps the identities of operators from being used again


def want(wanted: bool, weighed: bool) -> None:
    """Begin to count; where `weighed`, values are summed too (a world whose tensors all lie on the CPU)."""
    global _is_wanted, _is_weighed
    _is_wanted, _is_weighed = wanted, wanted and weighed


def wanted() -> bool:
    """Say whether anything is counted."""
    return _is_wanted


def count(result: Any, func: Any) -> None:
    """Count an operator's result; called after every operator."""
    name = _names.get(id(func))
    if name is None:
        name = _learn(func)
    if not name:
        return
    tensors = result if type(result) is tuple or type(result) is list else (result,)
    rows = getattr(_thread, "rows", None)
    if rows is None:
        rows = _thread.rows = {}
        _every.append(rows)
    row = rows.get(name)
    if row is None:
        row = rows[name] = [0, 0, 0.0, 0.0]
    row[_DEVICE if is_on_device(result) else _HOST] += 1
    if _is_weighed:
        if id(func) in _with_workspace:
            tensors = tuple(each for each in tensors if each is tensors[0] or _is_floating(each))
        for tensor in tensors:
            if type(tensor) is torch.Tensor or type(tensor) is torch.nn.Parameter:
                value = _weighed(tensor)
                if value - value == 0:  # neither infinite nor not a number
                    row[_TOTAL] += value
                    row[_SIZE] += abs(value)


def is_on_device(result: Any) -> bool:
    """Say whether an operator's result, or the first of several, lies on a device and not on the host."""
    if type(result) is tuple or type(result) is list:
        result = next((each for each in result if isinstance(each, torch.Tensor)), None)
    return isinstance(result, torch.Tensor) and (result._devfix_gpu >= 0 or result.device.type != "cpu")  # type: ignore[attr-defined]


def _learn(func: Any) -> str:
    name = "" if type(func) is str or not _is_work(func) else operators.qualified(func)
    if type(func) is not str:
        _kept.append(func)
        _names[id(func)] = name
        if name and not _has_named_results(func):
            _with_workspace.add(id(func))
    return name


def _has_named_results(func: Any) -> bool:
    """Return whether all of an operator's results are for its caller, as those of `max` and `topk` are.

    Where several have no names, those after the first are what its own backward reads. Bytes and indices among them
    may be memory that nothing was written to: the workspace of `mkldnn_rnn_layer` differs from run to run.
    """
    returns = func._schema.returns
    return len(returns) == 1 or all(each.name for each in returns)


def _is_floating(result: Any) -> bool:
    return isinstance(result, torch.Tensor) and result.is_floating_point()


def _is_work(func: Any) -> bool:
    if operators.event_kind(func) == "random":
        return True
    if not any("Tensor" in str(each.type) for each in func._schema.returns):
        return False  # it only asks
    made = operators.source_argument(func) in (operators.BORN, operators.REBORN)
    return not made and not operators.keeps_identity(func) and operators.base_name(func) not in _LEFT_OUT


def is_work(func: Any) -> bool:
    """Say whether an operator works on values."""
    name = _names.get(id(func))
    return bool(_learn(func) if name is None else name)


def _weighed(tensor: torch.Tensor) -> float:
    try:
        if tensor.layout is not torch.strided or tensor.device.type != "cpu":
            return 0.0
        size = tensor.numel()
        flat = tensor.detach().reshape(-1)
        if size > checksums.MOST:
            flat = flat[:: -(-size // checksums.MOST)]
        if flat.is_complex():
            flat = flat.real + flat.imag
        return float(torch.dot(flat.to(torch.float64), checksums.weights()[: flat.numel()]))
    except Exception:  # a kind of tensor that has no values to look at
        return 0.0


def tell() -> list[dict[str, Any]]:
    """Write the counts, one entry for each operator."""
    totals: dict[str, list[Any]] = {}
    for rows in list(_every):
        for name, row in list(rows.items()):
            known = totals.get(name, (0, 0, 0.0, 0.0))
            totals[name] = [one + other for one, other in zip(known, row)]  # noqa: B905
    return [
        {"op": name, "host": row[_HOST], "device": row[_DEVICE], "total": row[_TOTAL], "size": row[_SIZE]}
        for name, row in totals.items()
    ]


def reset() -> None:
    """Forget all counts, for a forked child."""
    for rows in _every:
        rows.clear()
