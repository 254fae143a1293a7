"""Which modules hold an operand, as each frame sees them: parameters, buffers, attributes that `.to()` does not see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from . import histories
from .members import Module, child, instance_dict, is_a
from .scope import Held

Json = dict[str, Any]
Looked = list[tuple[int, Held]]  # frame number and expression, deepest frame first
_MODULES = 20_000


def holders(tensor: Any, family: set[int], looked: Looked) -> list[Json]:
    """Write the modules that hold the operand, one for each frame that reaches one, deepest frame first.

    Where none holds the operand itself, those that hold what it was derived from last.
    """
    found: list[tuple[int, int, Json]] = []  # minus the moment, identity of what is held, owner
    left = _MODULES
    for frame, bindings in _by_frame(looked).items():
        for root, module in _roots(bindings):
            for expression, inner in _below(root, module):
                left -= 1
                for attribute, kind, value in _holdings(inner):
                    moment = histories.moment(value)
                    if value is tensor or (moment in family and is_a(value, torch.Tensor)):
                        owner = {"expression": expression, "frame": frame, "type": type(inner).__name__}
                        owner.update(attribute=attribute, kind=kind, root=root)
                        found.append((-(1 << 62) if value is tensor else -moment, id(value), owner))
                if left < 0:
                    return _best(found)
    return _best(found)


def _best(found: list[tuple[int, int, Json]]) -> list[Json]:
    if not found:
        return []
    _, held, _ = min(found, key=lambda each: each[0])
    frames: dict[int, Json] = {}
    for _, identity, owner in found:
        if identity == held:
            frames.setdefault(owner["frame"], owner)
    return list(frames.values())


def _by_frame(looked: Looked) -> dict[int, list[Held]]:
    frames: dict[int, list[Held]] = {}
    for frame, held in looked:
        if held[1] == "module":
            frames.setdefault(frame, []).append(held)
    return frames


def _roots(bindings: list[Held]) -> list[tuple[str, Any]]:
    """Return the modules in a frame that no other module there registers, below it or further below."""
    inner: set[int] = set()
    expanded: set[int] = set()
    stack = [module for _, _, module in bindings]
    while stack and len(expanded) < _MODULES:
        module = stack.pop()
        if id(module) not in expanded:
            expanded.add(id(module))
            below = [item for item in (instance_dict(module).get("_modules") or {}).values() if item is not None]
            inner.update(id(item) for item in below if item is not module)
            stack.extend(below)
    roots: dict[int, tuple[str, Any]] = {}
    for expression, _, module in bindings:
        if id(module) not in inner:
            roots.setdefault(id(module), (expression, module))
    return list(roots.values())


def _below(root: str, module: Any) -> Iterator[tuple[str, Any]]:
    queue, seen = [(root, module)], set()
    for expression, inner in queue:
        if id(inner) not in seen:
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
