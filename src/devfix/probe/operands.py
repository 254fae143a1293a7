"""The tensors that a failing operator was given: their arguments' names, the names that hold them, their owners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from . import histories
from .members import Module, child, instance_dict, is_a
from .scope import Held

Looked = list[tuple[int, Held]]  # frame number and expression, deepest frame first
_MOST = 64
_MODULES = 3_000
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


def tell(argument: str, tensor: Any, looked: Looked) -> dict[str, Any]:
    """Write one operand, with all that names it in the frames that were looked at."""
    family = histories.same_data(tensor)
    names = []
    for frame, (expression, kind, value) in looked:
        if kind != "tensor":
            continue
        relation = relate(value, tensor, family)
        if not relation and value.is_leaf and value.grad is tensor:
            expression, relation = f"{expression}.grad", "same"
        if relation:
            name = {"frame": frame, "expression": expression, "relation": relation}
            names.append((_RELATIONS.index(relation), -histories.moment(value), name))
    names.sort(key=lambda name: name[:2])  # what the operand was derived from last comes before what lies further back
    return {
        "argument": argument,
        "device": str(tensor.device),
        "dtype": str(tensor.dtype),
        "shape": [int(size) for size in tensor.shape],
        "names": [name for _, _, name in names[:_MOST]],
        "history": histories.history(tensor),
        "owner": owner(tensor, family, looked),
    }


def relate(value: Any, tensor: Any, family: set[int]) -> str:
    """Say how `value` relates to the operand: "same", "source", "storage", or "" for not at all."""
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


def owner(tensor: Any, family: set[int], looked: Looked) -> dict[str, Any] | None:
    """Find the module that holds the operand: in the deepest frame that reaches one, by the shortest expression.

    Where none holds the operand itself, the one that holds what it was derived from last.
    """
    modules = sorted(
        ((frame, held) for frame, held in looked if held[1] == "module"),
        key=lambda item: (-item[0], item[1][0].count(".") + item[1][0].count("[")),
    )
    seen: set[int] = set()
    best: dict[str, Any] | None = None
    latest = 0
    for frame, (root, _, module) in modules:
        for expression, inner in _below(root, module, seen):
            for attribute, kind, value in _holdings(inner):
                relation = relate(value, tensor, family) if is_a(value, torch.Tensor) else ""
                if relation == "same" or (relation == "source" and histories.moment(value) > latest):
                    latest = histories.moment(value)
                    best = {"expression": expression, "frame": frame, "type": type(inner).__name__}
                    best.update(attribute=attribute, kind=kind)
                    if relation == "same":
                        return best
    return best


def _below(root: str, module: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
    queue = [(root, module)]
    while queue and len(seen) < _MODULES:
        expression, inner = queue.pop(0)
        if id(inner) in seen:
            continue
        seen.add(id(inner))
        yield expression, inner
        for name, item in list((instance_dict(inner).get("_modules") or {}).items()):
            if item is not None and is_a(item, Module):
                queue.append((child(expression, inner, name), item))


def _holdings(module: Any) -> Iterator[tuple[str, str, Any]]:
    own = instance_dict(module)
    for table, kind in (("_parameters", "parameter"), ("_buffers", "buffer")):
        yield from ((name, kind, value) for name, value in list((own.get(table) or {}).items()))
    for name, value in list(own.items()):
        if is_a(value, torch.Tensor):
            yield name, "attribute", value
        elif type(value) in (list, tuple):
            yield from ((f"{name}[{at}]", "attribute", item) for at, item in enumerate(value[:16]))
        elif type(value) is dict and not name.startswith("_"):
            items = list(value.items())[:64]
            yield from ((f'{name}["{key}"]', "attribute", item) for key, item in items if type(key) is str)
