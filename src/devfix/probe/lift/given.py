"""The devices of the tensors that a call of test code was given."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Iterator
from enum import Enum
from types import FrameType, ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ..inspection.members import instance_dict
from . import devices, modules
from .arguments import received_values

_ITEMS = 200  # objects that are looked into, and what each of them holds
_CLOSED = (torch.Tensor, torch.nn.Module, type, ModuleType)


class Given(Enum):
    """The devices of the tensors that a call was given."""

    NOTHING = "no tensor"
    GPU = "GPUs alone"
    HOST = "the host, too"


def place_of_arguments(call: FrameType) -> tuple[Given, Any]:
    """Return where the tensors lie among the arguments of a call, and a weak reference to one on a GPU.

    Those in lists and of modules count. Where there is none, those that an object holds: a graph, a batch. What a
    constructor has made of its object by then was not given to it.
    """
    is_made = call.f_code.co_name == "__init__"
    arguments = [
        (n, value) for n, value in received_values(call) if value is not None and not (is_made and n == "self")
    ]
    leaves = [each for _, value in arguments for each in tree_leaves(value)]
    found = list(_tensors(leaves))
    if not found:
        # An object's own method: only what its author's `.to` has moved says that the result belongs on a GPU.
        own = [value for name, value in arguments if name == "self" and not modules.was_moved(value)]
        held = [_values_of(each) for each in itertools.islice(leaves, _ITEMS) if not any(each is one for one in own)]
        found = list(_tensors(each for values in held for each in values))
    if not found:
        return Given.NOTHING, None
    if any(not devices.is_on_gpu(each) for each in found):
        return Given.HOST, None
    return Given.GPU, weakref.ref(found[0])


def builds_of_modules(call: FrameType) -> bool:
    """Return whether a call constructs a module of others, and no tensor: its author may move it as a whole later."""
    arguments = dict(received_values(call)) if call.f_code.co_name == "__init__" else {}
    made = arguments.pop("self", None)
    if not isinstance(made, torch.nn.Module) or modules.was_moved(made):
        return False
    leaves = tree_leaves(list(arguments.values()))
    return any(isinstance(each, torch.nn.Module) for each in leaves) and not any(map(torch.is_tensor, leaves))


def _tensors(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    for each in values:
        if isinstance(each, torch.Tensor):
            yield each
        elif isinstance(each, torch.nn.Module):
            yield from modules.tensors_of(each)[:1]


def _values_of(value: Any) -> list[Any]:
    """Return what a plain object has in its attributes."""
    if isinstance(value, _CLOSED) or not (inside := instance_dict(value)):
        return []
    return tree_leaves(list(itertools.islice(inside.values(), _ITEMS)))
