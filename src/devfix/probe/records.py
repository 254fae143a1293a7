"""The records of tensors and modules: a table by identity, weak, and constant memory for each.

A record hangs on a weak reference, so that tensors carry no marks that pickling, `vars()` or a deep copy could see. An
event is a tuple, written out only when a letter needs it: (what, spots, device, from, previous, depth, moment).
`previous` leads from a result to what it was derived from.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import Any

import torch

Event = tuple[Any, ...]
WHAT, SPOTS, DEVICE, FROM, PREVIOUS, DEPTH, MOMENT = range(7)
KEEP = 4  # steps that a record keeps at least; it may share up to three times as many with its sources
moments = itertools.count(1)
moving = threading.local()  # `together` while a module moves what it holds


class Record(weakref.ref):  # type: ignore[type-arg]
    """The history of one tensor: `birth` and `move` outlast forgotten steps, `last` is the newest event.

    `copy` is set where somebody made a copy of it on another device: that copy is another tensor.
    """

    __slots__ = ("birth", "copy", "key", "last", "move")

    birth: Event | None
    copy: Event | None
    key: int
    last: Event
    move: Event | None


table: dict[int, Record] = {}


def drop(record: Record) -> None:
    """Forget a tensor that has died; called by its weak reference."""
    if table.get(record.key) is record:
        del table[record.key]


def keep(tensor: Any, birth: Event | None, last: Event, moved: bool) -> None:
    """Begin a new record for a tensor or module."""
    record = Record(tensor, drop)
    record.key = id(tensor)
    record.birth, record.last, record.move, record.copy = birth, last, last if moved else None, None
    table[record.key] = record


def forget(tensor: Any) -> tuple[Event | None, Event, Event | None] | None:
    """Take a tensor's history away, and with it the weak reference, and return it."""
    record = table.pop(id(tensor), None)
    return None if record is None else (record.birth, record.last, record.move)


def restore(tensor: Any, history: tuple[Event | None, Event, Event | None] | None) -> None:
    """Give a history that `forget` returned to a tensor."""
    if history is not None:
        birth, last, move = history
        keep(tensor, birth, last, moved=False)
        table[id(tensor)].move = move


def unknown(source: Any) -> Record | None:
    """Begin a record for a tensor whose birth was not seen."""
    if not issubclass(type(source), torch.Tensor):
        return None
    keep(source, None, (None, (), None, None, None, 0, next(moments)), moved=False)
    return table[id(source)]


def shortened(last: Event) -> Event | None:
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


def operations() -> int:
    """Say how many events there were; the count itself is one."""
    return next(moments)
