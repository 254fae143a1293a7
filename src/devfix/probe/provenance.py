"""What happened to each tensor: where it was born, last moved, and the last steps since."""

from __future__ import annotations

import functools
from typing import Any

import torch

from . import operators, transfers
from .operators import REBORN, REDRAWN
from .patching import Unbound
from .places import nearest, outward
from .records import (
    DEPTH,
    DEVICE,
    FROM,
    KEEP,
    PREVIOUS,
    Record,
    drop,
    forget,
    keep,
    moments,
    moving,
    restore,
    shortened,
    table,
    unknown,
)


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
    # In place, or `out=`: the tensor stays where it was; one filled with random numbers is another from then on.
    known = table.get(key) if role != REBORN else None
    if known is not None and (role != REDRAWN or known.move is not None or kind is torch.nn.Parameter):
        return
    source = None
    if role >= 0:
        if role < len(args):
            source = args[role]
            if type(source) is list or type(source) is tuple:
                source = source[0] if source else None
        if source is result:
            return
        source = table.get(id(source)) or unknown(source)
    try:
        record = Record(result, drop)
    except TypeError:  # a number, of `item()` and its like
        if role >= 0 and role < len(args):
            read(args[role], func)
        return
    record.key = key
    record.copy = None
    if source is None:
        spots = outward(1)
        record.birth = record.last = (func, spots, None, None, None, 0, next(moments))
        record.move = None
    else:
        last = source.last
        depth = last[5] + 1
        if depth > 12:
            last, depth = shortened(last), KEEP
        record.birth = source.birth
        record.move = source.move
        record.last = (func, nearest(1), None, None, last, depth, next(moments))
    table[key] = record


def moved(result: Any, source: Any, func: Any) -> None:
    """Record that `result` is a copy of `source` on another device."""
    origin = table.get(id(source)) or unknown(source)
    spots = outward(1)
    here, there = str(result.device), str(source.device)
    birth = origin.birth if origin else None
    if birth is not None and birth[DEVICE] is None:
        birth = (*birth[:DEVICE], there, *birth[FROM:])
    previous = shortened(origin.last) if origin else None
    transfers.count(here, there, result.numel() * result.element_size(), spots)
    if origin is not None and table.get(id(result)) is not None and operators.base_name(func) == "copy_":
        return  # the tensor written to stays where it was born
    event = (func, spots, here, there, previous, KEEP, next(moments))
    if origin is not None:
        origin.copy = (*event[:PREVIOUS], None, *event[DEPTH:])
    keep(result, birth, event, moved=True)


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


def adopt(tensor: Any, source: Any, what: str) -> None:
    """Record that `tensor` was made of `source` outside of the dispatcher (a Parameter of its data)."""
    origin = table.get(id(source))
    last = (what, outward(1), None, None, shortened(origin.last) if origin else None, KEEP, next(moments))
    keep(tensor, origin.birth if origin and origin.birth else last, last, moved=False)
    if origin:
        table[id(tensor)].move = origin.move


_roles: dict[int, int] = {}
_held: list[Any] = []


def learn(func: Any) -> int:
    """Say which argument a result derives from, -1 where it is born; remembered for each operator."""
    role = operators.source_argument(func)
    if type(func) is not str:
        _held.append(func)  # keeps the identity from being used again
        _roles[id(func)] = role
    return role


def made(module: Any) -> None:
    """Record where a module was made."""
    event = ("made", outward(1), None, None, None, 0, next(moments))
    keep(module, event, event, moved=False)


def moved_together(things: list[Any], what: str, there: str, here: str) -> None:
    """Record that modules, and parameters that keep their identity, were moved by one call."""
    spots = outward(1)
    for thing in things:
        record = table.get(id(thing))
        birth = record.birth if record is not None else None
        if birth is not None and birth[DEVICE] is None:
            birth = (*birth[:DEVICE], there, *birth[FROM:])
        previous = shortened(record.last) if record is not None else None
        keep(thing, birth, (what, spots, here, there, previous, KEEP, next(moments)), moved=True)


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

    torch.from_numpy = Unbound(from_numpy)
