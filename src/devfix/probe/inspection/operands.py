"""Describe the tensor arguments of a failing operator: argument names, and the expressions that hold them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from ..simulation.tensors.tensor import sizes
from . import histories
from .members import is_a
from .owners import Holdings, Looked

_MOST = 64
_RELATIONS = ("same", "source", "storage")


def arguments(func: Any, args: Any, kwargs: Any) -> list[tuple[str, Any]]:
    """Return the tensor arguments with the schema's names, list elements as `tensors[1]`; in the schema's order."""
    schema = getattr(func, "_schema", None)
    named: list[tuple[str, Any]] = []
    if schema is None:
        single = len(args) == 1
        named = [("self" if single else f"args[{at}]", value) for at, value in enumerate(args)]
        named += list((kwargs or {}).items())
    else:
        for at, argument in enumerate(schema.arguments):
            if at < len(args):
                named.append((argument.name, args[at]))
            elif kwargs and argument.name in kwargs:
                named.append((argument.name, kwargs[argument.name]))
    found = [item for name, value in named for item in _tensors(name, value)]
    return found[:_MOST]


def _tensors(name: str, value: Any, depth: int = 2) -> Iterator[tuple[str, Any]]:
    if is_a(value, torch.Tensor):
        yield name, value
    elif depth and (is_a(value, list) or is_a(value, tuple)):
        for at, item in enumerate(value):
            yield from _tensors(f"{name}[{at}]", item, depth - 1)
    elif depth and is_a(value, dict):
        for key, item in value.items():
            yield from _tensors(f"{name}[{key!r}]", item, depth - 1)


def describe_operand(argument: str, tensor: Any, looked: Looked, holdings: Holdings) -> dict[str, Any]:
    """Describe one operand, with all expressions for it in the inspected frames."""
    family, steps = histories.same_data(tensor), histories.computed_from(tensor)
    named, sources = [], []
    for frame, (expression, kind, value) in looked:
        if kind != "tensor":
            continue
        relation = relate(value, tensor, family)
        if not relation and value.is_leaf and value.grad is tensor:
            expression, relation = f"{expression}.grad", "same"
        if relation:
            name = {"frame": frame, "expression": expression, "relation": relation}
            named.append((_RELATIONS.index(relation), -histories.moment(value), name, value))
        elif histories.moment(value) in steps:
            sources.append((-histories.moment(value), {"frame": frame, "expression": expression}))
    named.sort(key=lambda each: each[:2])  # the nearest source of the operand comes first
    sources.sort(key=lambda each: each[0])
    held = holdings.holders(tensor, family)
    copies = (histories.copy(value) for value in (tensor, *(each[3] for each in named if each[0] < 2)))
    return {
        "argument": argument,
        "device": str(tensor.device),
        "dtype": str(tensor.dtype),
        "shape": sizes(tensor),
        "names": [name for _, _, name, _ in named[:_MOST]],
        "sources": [name for _, name in sources[:_MOST]],
        "history": histories.history(tensor),
        "owner": held[0] if held else None,
        "holders": held,
        "copy": next((copy for copy in copies if copy is not None), None),
    }


def relate(value: Any, tensor: Any, family: set[int]) -> str:
    """Return how `value` relates to the operand: "same", "source", "storage", or "" for not at all."""
    if value is tensor:
        return "same"
    if histories.moment(value) in family:
        return "source"
    return "storage" if _shares_memory(value, tensor) else ""


def _shares_memory(value: Any, tensor: Any) -> bool:
    try:
        if value.dtype is not tensor.dtype or value.device != tensor.device:
            return False
        address = value.untyped_storage().data_ptr()
        return bool(address != 0) and address == int(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):  # sparse, meta and functorch tensors have none
        return False
