"""Record what happens to tensors outside of operators: moves, adoptions, modules, copies."""

from __future__ import annotations

import functools
from typing import Any

import torch

from ..simulation.operator_tables import operators
from ..simulation.patching import replace, wrap
from . import creations, transfers
from .creations import read, record_creation
from .places import outward
from .records import (
    COPY,
    CREATION,
    DEPTH,
    DEVICE,
    FROM,
    KEEP,
    LAST,
    MOMENT,
    MOVE,
    PREVIOUS,
    Event,
    History,
    forget,
    keep,
    moments,
    moving,
    of,
    restore,
    shorten_history,
    slow_collector,
    unknown,
)

__all__ = [
    "adopt",
    "became",
    "install",
    "moved_together",
    "read",
    "record_creation",
    "record_data",
    "record_module",
    "record_move",
]


def record_move(result: Any, source: Any, func: Any) -> None:
    """Record that `result` is a copy of `source` on another device."""
    origin = of(source) or unknown(source)
    stack = outward(1)
    here, there = str(result.device), str(source.device)
    previous = shorten_history(origin[LAST]) if origin else None
    transfers.count(transfers.direction(here, there), transfers.bytes_of(result), stack)
    if origin is not None and of(result) is not None and operators.base_name(func) == "copy_":
        return  # the tensor written to stays where it was created
    event = (func, stack, here, there, previous, KEEP, next(moments))
    if origin is not None:
        keep(source, (*origin[:COPY], (*event[:PREVIOUS], None, *event[DEPTH:])))
    keep(result, (event, _creation_on(there, origin), event, None))


def became(tensor: Any, value: Any) -> None:
    """Record that `tensor` is now on the device of `value`, which was created from its data or another's."""
    if getattr(moving, "together", False):
        return  # the move of the module covers it
    own, other = of(tensor), of(value)
    move = other[MOVE] if other is not None else None
    moved_together([tensor], "torch.Tensor.data", "" if move is None else move[FROM], str(tensor.device))
    new = of(tensor)
    if other is None or other[CREATION] is None or new is None:
        return
    if own is None or own[CREATION] is None or own[CREATION][MOMENT] != other[CREATION][MOMENT]:
        event = (*new[LAST][:PREVIOUS], shorten_history(other[LAST]), *new[LAST][DEPTH:])
        keep(tensor, (event, other[CREATION], event, new[COPY]))


def record_data(tensor: Any, value: Any) -> None:
    """Record that `tensor`, on the device of `value` already, has its data now: where that was created counts."""
    if getattr(moving, "together", False):
        return
    own, other = of(tensor), of(value)
    if other is None or other[CREATION] is None:
        return
    if own is not None and own[CREATION] is not None and own[CREATION][MOMENT] == other[CREATION][MOMENT]:
        return
    last = ("torch.Tensor.data", outward(1), None, None, shorten_history(other[LAST]), KEEP, next(moments))
    keep(tensor, (last, other[CREATION], other[MOVE], None))


def adopt(tensor: Any, source: Any, what: str) -> None:
    """Record that `tensor` was created from `source` outside of the dispatcher (a Parameter from its data)."""
    origin = of(source)
    last = (what, outward(1), None, None, shorten_history(origin[LAST]) if origin else None, KEEP, next(moments))
    creation = origin[CREATION] if origin else None
    keep(tensor, (last, creation or last, origin[MOVE] if origin else None, None))


def record_module(module: Any) -> None:
    """Record where a module was created."""
    event = ("made", outward(1), None, None, None, 0, next(moments))
    keep(module, (event, event, None, None))


def moved_together(things: list[Any], what: str, there: str, here: str) -> None:
    """Record that modules, and parameters that keep their identity, were moved by one call."""
    stack = outward(1)
    for thing in things:
        known = of(thing)
        previous = shorten_history(known[LAST]) if known is not None else None
        event = (what, stack, here, there, previous, KEEP, next(moments))
        keep(thing, (event, _creation_on(there, known), event, None))


def _creation_on(there: str, known: History | None) -> Event | None:
    """Return the creation, with the device on which it must have been if the event itself lacks it."""
    creation = known[CREATION] if known is not None else None
    if creation is None or creation[DEVICE] is not None:
        return creation
    return (*creation[:DEVICE], there, *creation[FROM:])


def install() -> None:
    """Keep records across `torch.utils.swap_tensors`, which rejects tensors with weak references, and deep copies."""
    slow_collector()
    creations.install()
    original = torch.utils.swap_tensors

    @functools.wraps(original)
    def swap_tensors(t1: Any, t2: Any) -> None:
        first, second = forget(t1), forget(t2)
        try:
            original(t1, t2)  # type: ignore[no-untyped-call]
        except BaseException:
            restore(t1, first)
            restore(t2, second)
            raise
        restore(t1, second)
        restore(t2, first)

    replace(torch.utils, "swap_tensors", swap_tensors)
    for kind in (torch.Tensor, torch.nn.Parameter):
        _install_copies(kind)
    _install_from_numpy()


def _install_copies(kind: Any) -> None:
    copy = kind.__deepcopy__

    @functools.wraps(copy)
    def __deepcopy__(self: Any, memo: Any) -> Any:
        made = copy(self, memo)
        if made is not self and of(self) is not None:
            adopt(made, self, "copy.deepcopy")
        return made

    replace(kind, "__deepcopy__", __deepcopy__)


def _install_from_numpy() -> None:
    def make(original: Any) -> Any:
        def from_numpy(array: Any) -> torch.Tensor:
            made: torch.Tensor = original(array)
            record_creation(made, "torch.from_numpy", (), {})
            return made

        return from_numpy

    wrap(torch, "from_numpy", make)
