"""Summarize what a program computes: the count of each operator, the devices of its results, and a sum of their values.

Compared between two runs, the totals show whether a patch changes what is computed, even if it is never printed. Only
compute operators count: patches insert operators that create, move, cast, index, join or view tensors.
"""

from __future__ import annotations

import threading
from typing import Any

import torch

from ..simulation.operator_tables import operators
from . import checksums

_LEFT_OUT = frozenset({"cat", "stack", "copy_", "_copy_from", "fill_", "zero_", "resize_", "record_stream"})
_HOST, _DEVICE, _TOTAL, _SIZE = range(4)

_is_wanted = _is_weighed = False
_every: list[dict[str, list[Any]]] = []
_thread = threading.local()  # threads that share a counter would lose counts
_names: dict[int, str] = {}
_with_workspace: set[int] = set()  # operators with results that are internal
_kept: list[Any] = []  # keeps operators alive, so that their ids are not reused


def want(wanted: bool, weighed: bool) -> None:
    """Start to count; if `weighed`, values are summed too (a world whose tensors are all on the CPU)."""
    global _is_wanted, _is_weighed
    _is_wanted, _is_weighed = wanted, wanted and weighed


def is_active() -> bool:
    """Return whether anything is counted."""
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
                value = _weigh(tensor)
                if value - value == 0:  # neither infinite nor NaN
                    row[_TOTAL] += value
                    row[_SIZE] += abs(value)


def is_on_device(result: Any) -> bool:
    """Return whether an operator's result, or the first of several, is on a device other than the host."""
    if type(result) is tuple or type(result) is list:
        result = next((each for each in result if isinstance(each, torch.Tensor)), None)
    return isinstance(result, torch.Tensor) and (result._devfix_gpu >= 0 or result.device.type != "cpu")  # type: ignore[attr-defined]


def _learn(func: Any) -> str:
    name = "" if type(func) is str or not _is_work(func) else operators.qualified_name(func)
    if type(func) is not str:
        _kept.append(func)
        _names[id(func)] = name
        if name and not _has_named_results(func):
            _with_workspace.add(id(func))
    return name


def _has_named_results(func: Any) -> bool:
    """Return whether all results of an operator are for its caller, as those of `max` and `topk` are.

    If several have no names, those after the first are read by its own backward. Bytes and indices among them may be
    uninitialized memory: the workspace of `mkldnn_rnn_layer` differs from run to run.
    """
    returns = func._schema.returns
    return len(returns) == 1 or all(each.name for each in returns)


def _is_floating(result: Any) -> bool:
    return isinstance(result, torch.Tensor) and result.is_floating_point()


def _is_work(func: Any) -> bool:
    if operators.event_kind(func) == "random":
        return True
    if not any("Tensor" in str(each.type) for each in func._schema.returns):
        return False  # it is only a query
    made = operators.source_argument(func) in (operators.CREATED, operators.RECREATED)
    return not made and not operators.keeps_identity(func) and operators.base_name(func) not in _LEFT_OUT


def is_work(func: Any) -> bool:
    """Return whether an operator computes values."""
    name = _names.get(id(func))
    return bool(_learn(func) if name is None else name)


def _weigh(tensor: torch.Tensor) -> float:
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
    except Exception:  # a kind of tensor without accessible values
        return 0.0


def export() -> list[dict[str, Any]]:
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
