"""Record where each tensor was created, after every operator: this must stay near 1 µs."""

from __future__ import annotations

import sys
from typing import Any

import torch

from ..simulation import hooks
from ..simulation.native import loading as native
from ..simulation.operator_tables import operators
from ..simulation.operator_tables.operators import CHOSEN, RECREATED, REDRAWN
from . import places, transfers
from .places import nearest, outward
from .records import KEEP, LAST, MOVE, History, Record, drop, moments, of, shorten_history, table, unknown

Tensor = torch.Tensor
_roles: dict[int, int] = {}
_held: list[Any] = []


def record_creation(result: Any, func: Any, args: Any, kwargs: Any) -> None:
    """Record that an operator created `result`, from the argument that its schema implies, or from nothing."""
    kind = type(result)
    if kind is tuple or kind is list:
        for item in result:
            if item is not None:
                record_creation(item, func, args, kwargs)
        return
    role = _roles.get(id(func))
    if role is None:
        role = learn(func)
    source = args[role] if 0 <= role < len(args) else operators.chosen_source(args) if role == CHOSEN else None
    if not isinstance(result, Tensor):  # a number, as of `item()`
        if source is not None:
            read(source, func)
        return
    # In place, or `out=`: the tensor stays where it was created, unless it was filled with random numbers.
    known = of(result) if role != RECREATED else None
    if known is not None and (role != REDRAWN or known[MOVE] is not None or kind is torch.nn.Parameter):
        return
    if type(source) is list or type(source) is tuple:
        source = source[0] if source else None
    if source is result:
        return
    origin = None if source is None else of(source) or unknown(source)
    if origin is None:
        event = (func, outward(1), None, None, None, 0, next(moments))
        history: History = (event, event, None, None)
    else:
        last = origin[LAST]
        depth = last[5] + 1
        if depth > 12:
            last, depth = shorten_history(last), KEEP
        history = ((func, nearest(1), None, None, last, depth, next(moments)), origin[1], origin[2], origin[3])
    if getattr(result, "_devfix_gpu", -1) >= 0:
        result._devfix_record = history  # type: ignore[attr-defined]
        return
    record = Record(result, drop)
    record.key = id(result)
    record.history = history
    table[record.key] = record


def record_derived(result: Any, func: Any, source: Any) -> None:
    """Do the same as `on_created`, faster, for a new simulated tensor that was just created from another one."""
    last, creation, move, copy = source._devfix_record or of(source) or unknown(source)  # type: ignore[misc]
    depth = last[5] + 1
    if depth > 12:
        last, depth = shorten_history(last), KEEP
    result._devfix_record = ((func, nearest(2), None, None, last, depth, next(moments)), creation, move, copy)


def derived_on_host(result: Any, func: Any, source: Any) -> None:
    """Do the same as `record_derived`, for tensors on the host."""
    known = table.get(id(source))
    history = known.history if known is not None and known() is source else of(source) or unknown(source)
    last, creation, move, copy = history  # type: ignore[misc]
    depth = last[5] + 1
    if depth > 12:
        last, depth = shorten_history(last), KEEP
    record = Record(result, drop)
    record.key = key = id(result)
    record.history = ((func, nearest(2), None, None, last, depth, next(moments)), creation, move, copy)
    table[key] = record


hooks.fast_on_created[record_creation] = record_derived
hooks.fast_on_created_cpu[record_creation] = derived_on_host


def recorder() -> Any:
    """Return the hook `on_created`: `record_creation`, in C++ where there are compiled paths."""
    compiled = native.extension()
    if compiled is None:
        return record_creation
    hooks.fast_on_created[compiled.created] = record_derived
    hooks.fast_on_created_cpu[compiled.created] = derived_on_host
    return compiled.created


def install() -> None:
    """Let the compiled hot paths record creations too, if there are any."""
    native.configure(
        created=record_creation, table=table, roles=_roles, Record=Record, moments=moments,
        history_of=_history_of, places=vars(places), kinds=places.kinds, hops=places._hops, learn=places.learn,
        getframe=sys._getframe,
    )  # fmt: skip


def _history_of(source: Any) -> History | None:
    return of(source) or unknown(source)


def read(tensor: Any, func: Any) -> None:
    """Count that the host waited for a tensor's values."""
    if issubclass(type(tensor), torch.Tensor) and (tensor._devfix_gpu >= 0 or tensor.device.type != "cpu"):
        transfers.count(transfers.TO_HOST, transfers.bytes_of(tensor), outward(1))


def learn(func: Any) -> int:
    """Return the index of the argument that a result derives from, -1 if it is created; cached per operator."""
    role = operators.source_argument(func)
    if type(func) is not str:
        _held.append(func)  # keeps the operator alive, so that its id is not reused
        _roles[id(func)] = role
    return role
