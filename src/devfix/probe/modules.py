"""Modules: where each was made and moved, and the device map at the end."""

from __future__ import annotations

import functools
import sys
import threading
from typing import Any

import torch

from . import places, provenance
from .members import child, instance_dict, is_a
from .scope import device_of, module_tensors

Module = torch.nn.Module
_inside = threading.local()
_dying: list[dict[str, Any]] = []
_told: set[int] = set()


def install(keep_map: bool) -> None:
    """Have modules and parameters record their making, and modules their moves."""
    _install_making()
    _install_moves()
    _install_parameters()
    if keep_map:
        _install_map()


def _install_making() -> None:
    original = Module.__init__

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        provenance.made(self)

    Module.__init__ = __init__  # type: ignore[method-assign]


def _install_moves() -> None:
    original = Module._apply

    @functools.wraps(original)
    def _apply(self: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(_inside, "apply", False):
            return original(self, *args, **kwargs)  # type: ignore[no-untyped-call]
        before = device_of("module", self)
        _inside.apply = True
        try:
            return original(self, *args, **kwargs)  # type: ignore[no-untyped-call]
        finally:
            _inside.apply = False
            after = device_of("module", self)
            if before != after:
                name = sys._getframe(1).f_code.co_name
                provenance.module_moved(_all_below(self), f"torch.nn.Module.{name}", before, after)

    Module._apply = _apply  # type: ignore[method-assign]


def _install_parameters() -> None:
    original = torch.nn.Parameter.__new__

    @functools.wraps(original)
    def __new__(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        parameter = original(cls, data, requires_grad)
        if data is not None and parameter is not data:
            provenance.adopt(parameter, data, "parameter")
        return parameter

    torch.nn.Parameter.__new__ = staticmethod(__new__)  # type: ignore[method-assign]


def _all_below(module: Any) -> list[Any]:
    found, stack, seen = [], [module], set()
    while stack:
        inner = stack.pop()
        if id(inner) not in seen and is_a(inner, Module):
            seen.add(id(inner))
            found.append(inner)
            stack.extend((instance_dict(inner).get("_modules") or {}).values())
    return found


def _install_map() -> None:
    """Write down each module's devices when it dies, while its tensors still live; the root of a tree dies first."""

    def __del__(self: Any) -> None:
        if len(_dying) < 5_000 and id(self) not in _told:
            _map(type(self).__name__, self, _dying)

    Module.__del__ = __del__  # type: ignore[attr-defined]


def tell() -> list[dict[str, Any]]:
    """Write every module that holds tensors: those still alive by their names, those that died by their class."""
    _told.clear()
    told: list[dict[str, Any]] = []
    for name, module in _roots():
        _map(name, module, told)
    return _dying + told


def _roots() -> list[tuple[str, Any]]:
    """Name the live modules: globals of the program and of owned modules first, then whatever no other module holds."""
    named: dict[int, tuple[str, Any]] = {}
    for module_name, module in list(sys.modules.items()):
        filename = getattr(module, "__file__", None)
        if module_name == "__main__" or (type(filename) is str and places.learn(filename) == places.OWNED):
            for name, value in list(vars(module).items()):
                if is_a(value, Module):
                    prefix = "" if module_name == "__main__" else f"{module_name}."
                    named.setdefault(id(value), (prefix + name, value))
    living = [record() for record in list(provenance.table.values())]
    modules = [value for value in living if value is not None and is_a(value, Module)]
    inner = {id(below) for value in modules for below in (instance_dict(value).get("_modules") or {}).values()}
    rest = [(type(value).__name__, value) for value in modules if id(value) not in inner and id(value) not in named]
    return list(named.values()) + rest


def _map(name: str, module: Any, into: list[dict[str, Any]]) -> None:
    from . import histories

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
            into.append({**histories.binding((expression, "module", inner)), "tensors": tensors})
        below = list((instance_dict(inner).get("_modules") or {}).items())
        queue.extend((child(expression, inner, key), value) for key, value in below if value is not None)
