"""The final device map: each module, and the devices of its parameters and buffers."""

from __future__ import annotations

import sys
from typing import Any

import torch

from ..provenance import places, records
from ..simulation.patching import replace
from . import histories
from .members import child, instance_dict, is_a
from .scope import IPYTHON, module_tensors

Module = torch.nn.Module
_dying: list[dict[str, Any]] = []
_told: set[int] = set()


def install() -> None:
    """Record each module's devices when it is destroyed, while its tensors exist; the root of a tree is first."""

    def __del__(self: Any) -> None:
        if len(_dying) < 5_000 and id(self) not in _told:
            _map(type(self).__name__, self, _dying)

    replace(Module, "__del__", __del__, add=True)


def export() -> list[dict[str, Any]]:
    """Return every module that holds tensors: live ones by their names, destroyed ones by their class."""
    _told.clear()
    described: list[dict[str, Any]] = []
    for name, module in _roots():
        _map(name, module, described)
    return _dying + described


def _roots() -> list[tuple[str, Any]]:
    """Name the live modules: globals of the program and of owned modules first, then roots of other modules."""
    named: dict[int, tuple[str, Any]] = {}
    for module_name, module in list(sys.modules.items()):
        filename = getattr(module, "__file__", None)
        if module_name == "__main__" or (type(filename) is str and places.learn(filename) == places.OWNED):
            is_notebook = "get_ipython" in vars(module)
            for name, value in list(vars(module).items()):
                if is_a(value, Module) and not (is_notebook and IPYTHON.fullmatch(name)):
                    prefix = "" if module_name == "__main__" else f"{module_name}."
                    named.setdefault(id(value), (prefix + name, value))
    living = [record() for record in list(records.table.values())]
    modules = [value for value in living if value is not None and is_a(value, Module)]
    inner = {id(below) for value in modules for below in (instance_dict(value).get("_modules") or {}).values()}
    rest = [(type(value).__name__, value) for value in modules if id(value) not in inner and id(value) not in named]
    return list(named.values()) + rest


def _map(name: str, module: Any, into: list[dict[str, Any]]) -> None:
    queue = [(name, module)]
    while queue:
        expression, inner = queue.pop(0)
        if id(inner) in _told or not is_a(inner, Module):
            continue
        _told.add(id(inner))
        tensors: dict[str, int] = {}
        for tensor in module_tensors(inner):
            tensors[str(tensor.device)] = tensors.get(str(tensor.device), 0) + 1
        if tensors:
            into.append({**histories.binding((expression, "module", inner)), "tensors": list(tensors.items())})
        below = list((instance_dict(inner).get("_modules") or {}).items())
        queue.extend((child(expression, inner, key), value) for key, value in below if value is not None)


def reset() -> None:
    """Forget the destroyed modules, for a forked child."""
    _dying.clear()
