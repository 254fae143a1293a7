"""Describe values as recipes: how the source of a test can recreate them (docs/reference/trace-format.md).

No code of the user is run, only `repr` of Python's own types; what cannot be written is "unknown", with the name of its
type.
"""

from __future__ import annotations

import enum
import math
import os
import sys
from typing import Any

import torch

from ..inspection.members import Device, Module, instance_dict, is_a
from . import modules, objects, tensors

Json = dict[str, Any]
_TEXT = 200  # letters of a string
_ITEMS = 64  # of one container
_DEEP = 6
_SCALARS = (type(None), bool, int, str, bytes)
_FUNCTIONS = (type(torch.relu), type(lambda: None), type)


def recipe(value: Any, depth: int = 0) -> Json:
    """Return the recipe of a value."""
    kind = type(value)
    if depth > _DEEP:
        return _unknown(value)
    if kind in _SCALARS or kind in (float, complex):
        return _literal(value)
    if kind is Device:
        return {"kind": "device", "text": str(value)}
    if kind is torch.dtype:
        return {"kind": "name", "module": "torch", "text": str(value).removeprefix("torch.")}
    if is_a(value, torch.Tensor):
        return tensors.tensor(value) if kind in (torch.Tensor, torch.nn.Parameter) else _unknown(value)
    if is_a(value, enum.Enum):
        return _refer_to(kind.__module__, f"{kind.__qualname__}.{instance_dict(value).get('_name_')}", value)
    if is_a(value, torch.nn.ModuleList) or is_a(value, torch.nn.Sequential):
        return _held_modules(value, depth)
    if is_a(value, Module):
        return modules.module_recipe(value) or _unknown(value)
    if is_a(value, torch.optim.Optimizer):
        return objects.optimizer(value, recipe) or _unknown(value)
    if isinstance(value, _FUNCTIONS):
        return _refer_to(getattr(value, "__module__", None), getattr(value, "__qualname__", ""), value)
    return _container(value, depth) or objects.by_attributes(value, depth, recipe) or _unknown(value)


def _literal(value: Any) -> Json:
    if isinstance(value, float) and not math.isfinite(value):
        return {"kind": "literal", "text": f'float("{value}")'}
    if isinstance(value, (str, bytes)):
        # A path is only valid on this machine, and a long text does not belong in a test.
        written = value if isinstance(value, str) else value.decode("latin-1")
        if len(value) > _TEXT or os.path.isabs(written) or "\n" in written:
            return _unknown(value)
    text = repr(value)
    return {"kind": "literal", "text": text} if len(text) <= 2 * _TEXT else _unknown(value)


def _container(value: Any, depth: int) -> Json | None:
    kind = type(value)
    if kind is torch.Size:
        return {"kind": "tuple", "items": [recipe(int(item)) for item in value]}
    if kind in (list, tuple, set, frozenset):
        if len(value) > _ITEMS:
            return None
        items = list(value) if kind in (list, tuple) else sorted(value, key=repr)
        name = "set" if kind is frozenset else kind.__name__
        return {"kind": name, "items": [recipe(item, depth + 1) for item in items]}
    if is_a(value, dict) and (kind is dict or kind.__module__ == "collections"):
        if len(value) > _ITEMS:
            return None
        pairs = [recipe(each, depth + 1) for pair in dict.items(value) for each in pair]
        return {"kind": "dict", "items": pairs}
    if kind is range or kind is slice:
        return {"kind": "literal", "text": repr(value)}
    return None


def _held_modules(value: Any, depth: int) -> Json:
    children = list((instance_dict(value).get("_modules") or {}).values())
    if type(value) not in (torch.nn.ModuleList, torch.nn.Sequential) or len(children) > _ITEMS:
        return modules.module_recipe(value) or _unknown(value)
    items = [recipe(child, depth + 1) for child in children]
    if type(value) is torch.nn.ModuleList:
        items = [{"kind": "list", "items": items}]
    described: Json = {"kind": "made", "module": "torch", "text": f"nn.{type(value).__name__}", "items": items}
    if not value.training:
        described["evaluates"] = True
    return described


def _refer_to(module: Any, name: str, value: Any) -> Json:
    """Refer to an object by the name that its module has for it."""
    if type(module) is not str or "<" in name:
        return _unknown(value)
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = instance_dict(found).get(part) if type(found) is type(sys) else getattr(found, part, None)
    if found is not value:
        return _unknown(value)
    if module == "builtins":
        return {"kind": "literal", "text": name}
    return {"kind": "name", "module": modules.module_name(module), "text": name}


def _unknown(value: Any) -> Json:
    return {"kind": "unknown", "text": type(value).__name__}
