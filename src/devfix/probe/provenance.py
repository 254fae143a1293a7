"""What happened to each tensor: where it was born, last moved, and the last steps since; constant memory a tensor.

A record hangs on a weak reference in a table by identity, so that tensors carry no marks that pickling, `vars()` or a
deep copy could see. An event is a tuple, written out only when a letter needs it:
(what, spots, device, from, previous, depth, moment). `previous` leads from a result to what it was derived from.
"""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from typing import Any

import torch

from . import operators, places, transfers
from .operators import REBORN
from .places import nearest, outward

Event = tuple[Any, ...]
WHAT, SPOTS, DEVICE, FROM, PREVIOUS, DEPTH, MOMENT = range(7)
_KEEP = 4  # steps that a record keeps at least; it may share up to three times as many with its sources
_operations = itertools.count(1)
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


def _drop(record: Record) -> None:
    if table.get(record.key) is record:
        del table[record.key]


def born(result: Any, func: Any, args: Any, kwargs: Any) -> None:
    """Record that an operator made `result`; called after every operator, so it must stay near 1 µs."""
    kind = type(result)
    if kind is tuple or kind is list:
        for item in result:
            if item is not None:
                born(item, func, args, kwargs)
        return
    key = id(result)
    role = _roles.get(id(func))
    if role is None:
        role = learn(func)
    if key in table and role != REBORN:  # in place, or `out=`: the tensor stays where it was
        return
    source = None
    if role >= 0:
        if role < len(args):
            source = args[role]
            if type(source) is list or type(source) is tuple:
                source = source[0] if source else None
        if source is result:
            return
        source = table.get(id(source)) or _unknown(source)
    try:
        record = Record(result, _drop)
    except TypeError:  # a number, of `item()` and its like
        if role >= 0 and role < len(args):
            read(args[role], func)
        return
    record.key = key
    record.copy = None
    if source is None:
        spots = outward(1)
        record.birth = record.last = (func, spots, None, None, None, 0, next(_operations))
        record.move = None
    else:
        last = source.last
        depth = last[5] + 1
        if depth > 12:
            last, depth = _shortened(last), _KEEP
        record.birth = source.birth
        record.move = source.move
        record.last = (func, nearest(1), None, None, last, depth, next(_operations))
    table[key] = record


def moved(result: Any, source: Any, func: Any) -> None:
    """Record that `result` is a copy of `source` on another device."""
    origin = table.get(id(source)) or _unknown(source)
    spots = outward(1)
    here, there = str(result.device), str(source.device)
    birth = origin.birth if origin else None
    if birth is not None and birth[DEVICE] is None:
        birth = (*birth[:DEVICE], there, *birth[FROM:])
    previous = _shortened(origin.last) if origin else None
    transfers.count(here, there, result.numel() * result.element_size(), spots)
    if origin is not None and table.get(id(result)) is not None and operators.base_name(func) == "copy_":
        return  # the tensor written to stays where it was born
    event = (func, spots, here, there, previous, _KEEP, next(_operations))
    if origin is not None:
        origin.copy = (*event[:PREVIOUS], None, *event[DEPTH:])
    _keep(result, birth, event, moved=True)


def became(tensor: Any, value: Any) -> None:
    """Record that `tensor` lies where `value` lies from now on, which was made from its data or from another's."""
    if getattr(moving, "together", False):
        return  # the module's move tells it
    own, other = table.get(id(tensor)), table.get(id(value))
    there = other.move[FROM] if other is not None and other.move is not None else ""
    moved_together([tensor], "torch.Tensor.data", there, str(tensor.device))
    if own is None and other is not None:
        table[id(tensor)].birth = other.birth


def read(tensor: Any, func: Any) -> None:
    """Count that the host waited for a tensor's values."""
    if issubclass(type(tensor), torch.Tensor) and tensor.device.type != "cpu":
        transfers.count("cpu", str(tensor.device), tensor.numel() * tensor.element_size(), outward(1))


def _keep(tensor: Any, birth: Event | None, last: Event, moved: bool) -> None:
    record = Record(tensor, _drop)
    record.key = id(tensor)
    record.birth, record.last, record.move, record.copy = birth, last, last if moved else None, None
    table[record.key] = record


def adopt(tensor: Any, source: Any, what: str) -> None:
    """Record that `tensor` was made of `source` outside of the dispatcher (a Parameter of its data)."""
    origin = table.get(id(source))
    last = (what, outward(1), None, None, _shortened(origin.last) if origin else None, _KEEP, next(_operations))
    _keep(tensor, origin.birth if origin and origin.birth else last, last, moved=False)
    if origin:
        table[id(tensor)].move = origin.move


def forget(tensor: Any) -> tuple[Event | None, Event, Event | None] | None:
    """Take a tensor's history away, and with it the weak reference, and return it."""
    record = table.pop(id(tensor), None)
    return None if record is None else (record.birth, record.last, record.move)


def restore(tensor: Any, history: tuple[Event | None, Event, Event | None] | None) -> None:
    """Give a history that `forget` returned to a tensor."""
    if history is not None:
        birth, last, move = history
        _keep(tensor, birth, last, moved=False)
        table[id(tensor)].move = move


def _unknown(source: Any) -> Record | None:
    """Begin a record for a tensor whose birth was not seen."""
    if not issubclass(type(source), torch.Tensor):
        return None
    _keep(source, None, (None, (), None, None, None, 0, next(_operations)), moved=False)
    return table[id(source)]


def _shortened(last: Event) -> Event | None:
    """Copy the newest steps, so that the older ones can be freed."""
    events: list[Event] = []
    event: Event | None = last
    while event is not None and len(events) < _KEEP:
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
    return next(_operations)


_roles: dict[int, int] = {}
_held: list[Any] = []


def learn(func: Any) -> int:
    """Say which argument a result derives from, -1 where it is born; remembered for each operator."""
    role = operators.source_argument(func)
    if type(func) is not str:
        _held.append(func)  # keeps the identity from being used again
        _roles[id(func)] = role
    return role


def reset() -> None:
    """Forget everything, for a forked child that starts anew."""
    table.clear()
    places.kinds.clear()


def made(module: Any) -> None:
    """Record where a module was made."""
    event = ("made", outward(1), None, None, None, 0, next(_operations))
    _keep(module, event, event, moved=False)


def moved_together(things: list[Any], what: str, there: str, here: str) -> None:
    """Record that modules, and parameters that keep their identity, were moved by one call."""
    spots = outward(1)
    for thing in things:
        record = table.get(id(thing))
        birth = record.birth if record is not None else None
        if birth is not None and birth[DEVICE] is None:
            birth = (*birth[:DEVICE], there, *birth[FROM:])
        previous = _shortened(record.last) if record is not None else None
        _keep(thing, birth, (what, spots, here, there, previous, _KEEP, next(_operations)), moved=True)


def install() -> None:
    """Keep records across `torch.utils.swap_tensors`, which refuses tensors that have weak references."""
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

    torch.utils.swap_tensors = swap_tensors
    for kind in (torch.Tensor, torch.nn.Parameter):
        _install_copies(kind)
    _install_from_numpy()


def _install_copies(kind: Any) -> None:
    copy = kind.__deepcopy__

    @functools.wraps(copy)
    def __deepcopy__(self: Any, memo: Any) -> Any:
        made = copy(self, memo)
        if made is not self and id(self) in table:
            adopt(made, self, "copy.deepcopy")
        return made

    kind.__deepcopy__ = __deepcopy__


def _install_from_numpy() -> None:
    original = torch.from_numpy

    @functools.wraps(original)
    def from_numpy(array: Any) -> torch.Tensor:
        made = original(array)
        born(made, "torch.from_numpy", (), {})
        return made

    torch.from_numpy = from_numpy  # type: ignore[assignment]
