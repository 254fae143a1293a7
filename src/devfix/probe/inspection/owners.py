"""Find the modules that hold an operand: as parameters, buffers, or attributes that `.to()` does not move."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Any

import torch

from . import histories
from .instances import qualified_type
from .members import Module, child, instance_dict, is_a
from .scope import Held

Json = dict[str, Any]
Looked = list[tuple[int, Held]]  # frame number and expression, deepest frame first
_MODULES = 20_000


class Holdings:
    """The modules in the frames of one failure, searched once for all operands and frames."""

    def __init__(self, looked: Looked) -> None:
        """Take the expressions of the frames, deepest frame first."""
        self._frames: dict[int, list[tuple[str, Any]]] = {}
        self._trees: dict[int, list[tuple[str, Any]]] = {}
        self._left = _MODULES
        outermost: dict[tuple[int, ...], list[int]] = {}
        for frame, bindings in _by_frame(looked).items():
            key = tuple(id(module) for _, _, module in bindings)
            if key not in outermost:
                outermost[key] = self._outermost([module for _, _, module in bindings])
            self._frames[frame] = [(bindings[at][0], bindings[at][2]) for at in outermost[key]]

    def holders(self, tensor: Any, family: set[int]) -> list[Json]:
        """Return the modules that hold the operand, one for each frame that reaches one, deepest frame first.

        If none holds the operand itself, return those that hold its nearest source.
        """
        found: list[tuple[int, int, Json]] = []  # negative moment, identity of the held tensor, owner
        known: dict[int, list[tuple[int, int, str, Json]]] = {}
        for frame, roots in self._frames.items():
            for root, module in roots:
                if id(module) not in known:
                    known[id(module)] = self._search(module, tensor, family)
                for moment, identity, suffix, owner in known[id(module)]:
                    held_by = {**owner, "expression": root + suffix, "frame": frame, "root": root}
                    found.append((moment, identity, held_by))
        return _best(found)

    def _search(self, module: Any, tensor: Any, family: set[int]) -> list[tuple[int, int, str, Json]]:
        found = []
        for suffix, inner in self._tree(module):
            for attribute, kind, value in _holdings(inner):
                moment = histories.moment(value)
                if value is tensor or (moment in family and is_a(value, torch.Tensor)):
                    names = {"type": type(inner).__name__, "qualified_type": qualified_type(type(inner))}
                    owner = {**names, "attribute": attribute, "kind": kind}
                    found.append((-sys.maxsize if value is tensor else -moment, id(value), suffix, owner))
        return found

    def _outermost(self, modules: list[Any]) -> list[int]:
        """Return the modules that no other one contains, each once."""
        inner: set[int] = set()
        for module in modules:
            if id(module) not in inner:
                inner.update(id(below) for _, below in self._tree(module) if below is not module)
        firsts = {id(module): at for at, module in reversed(list(enumerate(modules)))}
        return sorted(at for identity, at in firsts.items() if identity not in inner)

    def _tree(self, module: Any) -> list[tuple[str, Any]]:
        """Yield a module and all below it, each with the path from the module."""
        tree = self._trees.get(id(module))
        if tree is None:
            tree = self._trees[id(module)] = list(itertools.islice(_below("", module), max(self._left, 1)))
            self._left -= len(tree)
        return tree


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
