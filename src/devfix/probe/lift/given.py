"""The devices of the tensors that a call of test code was given."""

from __future__ import annotations

import dis
import itertools
import weakref
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import lru_cache
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import torch
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_leaves

from ..inspection.members import instance_dict
from ..provenance import records
from . import devices, modules
from .arguments import parameters, received_values
from .whose import Whose, kind_of

_ITEMS = 200  # objects that are looked into, and what each of them holds
_CLOSED = (torch.Tensor, torch.nn.Module, type, ModuleType)
_OF_LOADERS = (torch.utils.data.Dataset, torch.utils.data.Sampler)  # indices, for which the host is the place


class Given(Enum):
    """The devices of the tensors that a call was given."""

    NOTHING = "no tensor"
    GPU = "GPUs alone"
    HOST = "the host alone"
    BOTH = "GPUs and the host"


def place_of_arguments(call: FrameType) -> tuple[Given, Any]:
    """Return where the tensors lie among the arguments of a call, and a weak reference to one on a GPU.

    Those in lists and of modules count. Where there is none, those that an object or a part of it holds: a graph, a
    batch. What a constructor has made of its object by then was not given to it. Where no argument holds any, those
    count that test code has given to the object of a method before: `Sample(x).weights()`.
    """
    is_made = call.f_code.co_name == "__init__"
    arguments = [
        (n, value) for n, value in received_values(call) if value is not None and not (is_made and n == "self")
    ]
    leaves = [each for _, value in arguments for each in _leaves(value)]
    found = list(_tensors(leaves))
    if not found:
        # An object's own method: only what its author's `.to` has moved says that the result belongs on a GPU.
        own = [value for name, value in arguments if name == "self" and not modules.was_moved(value)]
        held = [values_of(each) for each in itertools.islice(leaves, _ITEMS) if not any(each is one for one in own)]
        found = list(_tensors(each for values in held for each in values))
        parts = [values_of(each) for values in ([] if found else held) for each in itertools.islice(values, _ITEMS)]
        found = found or list(_tensors(each for values in parts for each in values))  # the stores of a graph
        found = found or [tensor for each in own for tensor in _tensors_given_before(each)]
    if not found:
        return Given.NOTHING, None
    on_gpus = [each for each in found if devices.is_on_gpu(each)]
    if len(on_gpus) < len(found):
        return Given.BOTH if on_gpus else Given.HOST, None
    return Given.GPU, weakref.ref(found[0])


def is_given_nothing(call: FrameType) -> bool:
    """Return whether a method of a module is given no tensor but those that its module has."""
    arguments = dict(received_values(call))
    is_of_module = isinstance(arguments.pop("self", None), torch.nn.Module)
    return is_of_module and next(_tensors(_leaves(list(arguments.values()))), None) is None


def builds_of_modules(call: FrameType) -> bool:
    """Return whether a call constructs a module of others, and no tensor: its author may move it as a whole later."""
    arguments = dict(received_values(call)) if call.f_code.co_name == "__init__" else {}
    made = arguments.pop("self", None)
    if not isinstance(made, torch.nn.Module) or modules.was_moved(made):
        return False
    leaves = tree_leaves(list(arguments.values()))
    return any(isinstance(each, torch.nn.Module) for each in leaves) and not any(map(torch.is_tensor, leaves))


def _leaves(value: Any) -> Iterator[Any]:
    """Yield what a value holds; of a packed sequence the data, for its sizes are on the host in any case."""
    for each in tree_leaves(value, is_leaf=lambda part: isinstance(part, PackedSequence)):
        yield each.data if isinstance(each, PackedSequence) else each


def _tensors(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    for each in values:
        if isinstance(each, torch.Tensor):
            yield each
        elif isinstance(each, torch.nn.Module):
            yield from modules.tensors_of(each)[:1]


def values_of(value: Any) -> list[Any]:
    """Return what a plain object has in its attributes."""
    if isinstance(value, _CLOSED) or not (inside := instance_dict(value)):
        return []
    return tree_leaves(list(itertools.islice(inside.values(), _ITEMS)))


def _tensors_given_before(thing: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors that test code has made, and passed to a method of an object which has kept them."""
    return (each for each in kept_tensors(thing) if is_made_by_test(each))


def kept_tensors(thing: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors of a plain object in attributes to which methods that take arguments assign."""
    if isinstance(thing, (*_CLOSED, *_OF_LOADERS)):
        return
    kind: Any = type(thing)
    inside = instance_dict(thing)
    for name in _kept_by_methods(kind).intersection(inside):
        for each in itertools.islice(tree_leaves(inside[name]), _ITEMS):
            if isinstance(each, torch.Tensor):
                yield each


@lru_cache(maxsize=4096)
def _kept_by_methods(kind: Any) -> frozenset[str]:
    """Return the attributes to which methods of the code under test assign that take arguments."""
    members = (each for owner in kind.__mro__ for each in vars(owner).values())
    codes = (each.__code__ for each in members if isinstance(each, FunctionType))
    return frozenset(name for code in codes if kind_of(code) == Whose.CODE for name in _attributes_set(code))


def _attributes_set(code: CodeType) -> Iterator[str]:
    if len(parameters(code)) > 1:  # one is the object
        yield from (each.argval for each in dis.get_instructions(code) if each.opname == "STORE_ATTR")


def is_made_by_test(tensor: torch.Tensor) -> bool:
    """Return whether test code has created a tensor, or the one that it derives from, in no call of other code."""
    history = records.of(tensor)
    return history is not None and _is_of_test(history[records.CREATION])


def is_computed_by_test(tensor: torch.Tensor) -> bool:
    """Return whether test code itself has computed a tensor of what was created before, or one that it derives from."""
    history = records.of(tensor)
    if history is None or history[records.CREATION] is None:
        return False
    event, created = history[records.LAST], history[records.CREATION][records.MOMENT]
    while event is not None and event[records.MOMENT] > created:
        if _is_of_test(event):
            return True
        event = event[records.PREVIOUS]
    return False


def _is_of_test(event: records.Event | None) -> bool:
    stack = () if event is None else event[records.STACK]
    kinds = (kind_of(stack[at]) for at in range(0, len(stack), 2))
    return next((kind for kind in kinds if kind <= Whose.CODE), None) == Whose.TEST
