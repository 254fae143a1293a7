"""The tensors that a failing operator was given: their arguments' names, the names that hold them, their owners."""

from __future__ import annotations

import sys
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
    owners = holders(tensor, family, looked)
    return {
        "argument": argument,
        "device": str(tensor.device),
        "dtype": str(tensor.dtype),
        "shape": [int(size) for size in tensor.shape],
        "names": [name for _, _, name in names[:_MOST]],
        "history": histories.history(tensor),
        "owner": owners[0] if owners else None,
        "holders": owners,
        "copy": histories.copy(tensor),
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


def holders(tensor: Any, family: set[int], looked: Looked) -> list[dict[str, Any]]:
    """Find the module that holds the operand in each frame that reaches one, the surest first, then the deepest frame.

    Where none holds the operand itself, it is the one that holds what it was derived from last. `root` is the outermost
    expression in the frame whose module registers all that leads to the operand: moving it moves the operand.
    """
    found: list[tuple[int, int, dict[str, Any]]] = []
    for frame in dict.fromkeys(frame for frame, _ in looked):
        modules = [held for number, held in looked if number == frame and held[1] == "module"]
        modules.sort(key=lambda held: held[0].count(".") + held[0].count("["))
        best = max(_held(modules, tensor, family), key=lambda each: each[0], default=None)
        if best is not None:
            found.append((-best[0], -frame, {**best[1], "frame": frame}))
    return [owner for _, _, owner in sorted(found, key=lambda each: each[:2])]


def _held(modules: list[Held], tensor: Any, family: set[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each holding of the operand or of what it was derived from, with the moment of what is held."""
    seen: set[int] = set()
    for root, _, module in modules:
        for expression, inner in _below(root, module, seen):
            for attribute, kind, value in _holdings(inner):
                relation = relate(value, tensor, family) if is_a(value, torch.Tensor) else ""
                if relation in ("same", "source"):
                    owner = {"expression": expression, "type": type(inner).__name__, "root": root}
                    owner.update(attribute=attribute, kind=kind)
                    yield sys.maxsize if relation == "same" else histories.moment(value), owner


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
