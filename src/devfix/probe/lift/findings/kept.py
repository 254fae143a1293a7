"""Tensors that a module keeps where its `.to` does not see them, and that it still has on the host after the move.

They are plain attributes, lists, dictionaries and plain objects (a dataclass) with tensors, and modules in these.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import FrameType, FunctionType, ModuleType
from typing import Any

import torch

from ...inspection.members import instance_dict, is_a
from ...provenance import records
from ...simulation.accelerators import kinds
from ...simulation.patching import replace
from ..whose import frames_in_call

Module = torch.nn.Module
_INTERNALS = frozenset(vars(Module()))
_HOST = torch.device("cpu")
_DEPTH, _ITEMS = 3, 500
_CLOSED = (type, ModuleType, FunctionType)
_MODULES = 2000  # that are searched for one tensor
_Arrival = tuple[Any, int, frozenset[str]]
# By identity: a weak reference, the moment of the move, and the names of its tensors and layers.
_arrived: dict[int, _Arrival] = {}


class _Newest:
    """The moment of the last move of a module: a tensor that is younger was not left behind by one."""

    moment = 0


@dataclass(frozen=True)
class Kept:
    """An attribute of a module of a class, the tensor in it, and the moment at which the module has moved."""

    kind: type
    attribute: str
    tensor: torch.Tensor
    arrived: int

    @property
    def module(self) -> str:
        """The name of the class."""
        return self.kind.__name__


def methods(frame: FrameType | None, moment: int) -> Kept | None:
    """Return what keeps the tensor of that creation among the modules whose methods are running for test code."""
    if moment > _Newest.moment:
        return None
    for each in frames_in_call(frame):
        owner = each.f_locals.get(each.f_code.co_varnames[0]) if each.f_code.co_argcount else None
        if is_a(owner, Module) and (found := _find_kept(owner, moment)):
            return found
    return None


def anywhere(moment: int) -> Kept | None:
    """Return what keeps the tensor of that creation among all modules that have moved."""
    if moment > _Newest.moment:
        return None
    modules = (module for reference, *_ in list(_arrived.values()) if (module := reference()) is not None)
    return next((found for each in itertools.islice(modules, _MODULES) if (found := _find_kept(each, moment))), None)


def attribute_of(module: Any, moments: set[int], device: torch.device, depth: int = _DEPTH) -> str:
    """Return the attribute with which a module keeps one of the tensors of some creations on a device; "" for none.

    It is the tensor, or holds it `depth` containers and objects deep at most.
    """
    for name, value in list(instance_dict(module).items()):
        if name not in _INTERNALS and any(moment in moments for moment, _ in _with_moments(value, depth, device)):
            return name
    return ""


def _find_kept(module: Any, moment: int) -> Kept | None:
    reference, arrived, _ = _arrived.get(id(module), (None, 0, None))
    if reference is None or reference() is not module or moment > arrived:
        return None
    for name, value in list(instance_dict(module).items()):
        tensors = () if name in _INTERNALS else _with_moments(value, _DEPTH)
        if (tensor := next((each for created, each in tensors if created == moment), None)) is not None:
            return Kept(type(module), name, tensor, arrived)
    return None


def _with_moments(value: Any, depth: int, device: torch.device = _HOST) -> Iterator[tuple[int, torch.Tensor]]:
    """Yield the tensors on a device in what an attribute holds, each with the moment of its creation."""
    if is_a(value, torch.Tensor):
        moment = records.creation_moment(value) if value.device == device else None
        if moment is not None:
            yield moment, value
    elif depth:
        for item in itertools.islice(_items(value), _ITEMS):
            yield from _with_moments(item, depth - 1, device)


def _items(value: Any) -> Iterable[Any]:
    if is_a(value, Module):  # one that is registered was moved, and holds none
        return [*value.parameters(), *value.buffers()] if "_parameters" in instance_dict(value) else ()
    for kind in (list, tuple):
        if is_a(value, kind):
            return list(kind.__iter__(value))
    if is_a(value, dict):
        return list(dict.values(value))
    return () if isinstance(value, _CLOSED) else list(instance_dict(value).values())


def _moving(original: Any) -> Any:
    def move(self: Any, *args: Any, **kwargs: Any) -> Any:
        moved = original(self, *args, **kwargs)
        if torch.compiler.is_compiling():
            return moved
        name = original.__name__
        to = torch._C._nn._parse_to(*args, **kwargs)[0] if name == "to" else torch.device(name, 0)
        if to is not None:
            _note(self, to.type == kinds.now().name)
        return moved

    move.__name__ = original.__name__
    return move


def _note(module: Any, is_there: bool) -> None:
    """Note that a module and those that it registers lie on a GPU now, or no longer do."""
    if "_modules" not in instance_dict(module):
        return
    _Newest.moment = moment = next(records.moments)
    records.leave_out(1)
    for inner in module.modules():
        number = id(inner)
        if is_there:
            _arrived[number] = (weakref.ref(inner, _forgetting(number)), moment, _names(inner))
        else:
            _arrived.pop(number, None)


def _names(module: Any) -> frozenset[str]:
    """Return the names of the tensors and of the layers that a module registers."""
    tables = (instance_dict(module)[each] for each in ("_parameters", "_buffers", "_modules"))
    return frozenset(name for table in tables for name, value in table.items() if value is not None)


def arrivals(module: Any) -> Iterator[tuple[Any, int, frozenset[str]]]:
    """Yield a module and its parts that have moved, each with the moment, and the names of what it registered."""
    for inner in module.modules() if "_modules" in instance_dict(module) else ():
        reference, arrived, names = _arrived.get(id(inner), (None, 0, frozenset()))
        if reference is not None and reference() is inner:
            yield inner, arrived, names


def has_arrived(module: Any) -> bool:
    """Return whether a module has moved."""
    reference = _arrived.get(id(module), (None,))[0]
    return reference is not None and reference() is module


def _forgetting(number: int) -> Callable[[Any], None]:
    def forget(_: Any) -> None:
        _arrived.pop(number, None)

    return forget


def install() -> None:
    """Hear of the moves of modules."""
    _arrived.clear()
    for name in ("to", "cpu", kinds.now().name):
        if hasattr(Module, name):  # there is no `Module.mps`
            replace(Module, name, _moving(getattr(Module, name)))
