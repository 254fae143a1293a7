"""The history of each tensor and module: constant memory for each, and no reference that keeps it alive.

The history of a tensor on the host is attached to a weak reference, so that the tensor has no attribute that pickling,
`vars()` or a deep copy could see. A simulated tensor has attributes in any case, and its history is one of them, which
is faster.

An event is a tuple, which is only formatted when a trace needs it: (what, stack, device, from, previous, depth,
moment). `previous` leads from a result to what it was derived from. A history is a tuple too: the newest event;
creation and move, which are kept when steps are dropped; and where a copy of it, or of its source, was made on another
device.
"""

from __future__ import annotations

import gc
import itertools
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ..simulation.patching import undo_with

Event = tuple[Any, ...]
WHAT, STACK, DEVICE, FROM, PREVIOUS, DEPTH, MOMENT = range(7)
History = tuple[Any, ...]
LAST, CREATION, MOVE, COPY = range(4)
KEEP = 4  # minimum number of steps that a record keeps; it may share three times as many with its sources
moments = itertools.count(1)
moving = threading.local()  # `together` while a module moves what it holds


class Record(weakref.ref):  # type: ignore[type-arg]
    """The history of a tensor on the host or of a module; a simulated tensor has its history as an attribute."""

    __slots__ = ("history", "key")

    history: History
    key: int


table: dict[int, Record] = {}


OBJECTS = 5  # objects that the garbage collector counts for a tensor with a history, including the tensor


def slow_collector() -> None:
    """Let the garbage collector run as often as without histories: in a large program it takes half a second."""
    before = gc.get_threshold()
    slower = (before[0] * OBJECTS, *before[1:])
    gc.set_threshold(*slower)

    def restore() -> None:
        if gc.get_threshold() == slower:
            gc.set_threshold(*before)

    undo_with(restore)


def drop(record: Record) -> None:
    """Forget a destroyed tensor; called by its weak reference."""
    if table.get(record.key) is record:
        del table[record.key]


def of(thing: Any) -> History | None:
    """Return the history of a tensor or module, None if unknown."""
    own: History | None = getattr(thing, "_devfix_record", None) if issubclass(type(thing), torch.Tensor) else None
    if own is not None:
        return own
    record = table.get(id(thing))
    return record.history if record is not None and record() is thing else None


def creation_moment(tensor: Any) -> int | None:
    """Return what identifies the creation of a tensor, or of the one that it derives from; None if it was not seen."""
    history = of(tensor)
    event = history[CREATION] if history is not None else None
    return None if event is None else int(event[MOMENT])


def keep(thing: Any, history: History) -> None:
    """Set the history of a tensor or module."""
    if issubclass(type(thing), torch.Tensor):
        if getattr(thing, "_devfix_gpu", -1) >= 0:
            table.pop(id(thing), None)
            thing._devfix_record = history
            return
        if getattr(thing, "_devfix_record", None) is not None:
            del thing._devfix_record
    record = Record(thing, drop)
    record.key = id(thing)
    record.history = history
    table[record.key] = record


def forget(tensor: Any) -> History | None:
    """Remove a tensor's history, and with it the weak reference, and return it."""
    history = of(tensor)
    table.pop(id(tensor), None)
    if getattr(tensor, "_devfix_record", None) is not None:
        del tensor._devfix_record
    return history


def restore(tensor: Any, history: History | None) -> None:
    """Restore a history that `forget` returned."""
    if history is not None:
        keep(tensor, history)


def unknown(source: Any) -> History | None:
    """Start the history of a tensor whose creation was not recorded."""
    if not issubclass(type(source), torch.Tensor):
        return None
    history: History = ((None, (), None, None, None, 0, next(moments)), None, None, None)
    keep(source, history)
    return history


def shorten_history(last: Event) -> Event | None:
    """Copy the newest steps, so that the older ones can be freed."""
    events: list[Event] = []
    event: Event | None = last
    while event is not None and len(events) < KEEP:
        events.append(event)
        event = event[PREVIOUS]
    if event is None:
        return last
    shorter: Event | None = None
    for depth, event in enumerate(reversed(events)):
        shorter = (*event[:PREVIOUS], shorter, depth, event[MOMENT])
    return shorter


_aside = 0  # events that are not the program's


def operations() -> int:
    """Return how many events the program has had; the count itself is one."""
    return next(moments) - _aside


@contextmanager
def aside() -> Iterator[None]:
    """Exclude the events of a block from the count."""
    before = operations()
    try:
        yield
    finally:
        leave_out(operations() - before + 1)  # the two queries count too


def leave_out(number: int) -> None:
    """Exclude events from the count."""
    global _aside
    _aside += number
