"""Recipes of plain objects whose attributes have the names of their constructor's parameters."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import torch

from ..inspection import members
from ..inspection.members import instance_dict, is_a
from .modules import class_reference, exists, same

Json = dict[str, Any]


def optimizer(value: Any, recipe: Callable[[Any, int], Json]) -> Json | None:
    """Return the recipe of an optimizer with one group, without the module whose parameters it updates."""
    kind, groups = type(value), list(instance_dict(value).get("param_groups") or ())
    if not exists(kind) or len(groups) != 1:
        return None
    pairs = []
    for each in inspect.signature(kind).parameters.values():
        if each.name in groups[0] and each.name != "params" and not same(each.default, groups[0][each.name]):
            pairs.append([each.name, recipe(groups[0][each.name], 1)])
    module = "torch" if getattr(torch.optim, kind.__name__, None) is kind else class_reference(kind)["module"]
    name = f"optim.{kind.__name__}" if module == "torch" else kind.__qualname__
    return {"kind": "made", "module": module, "text": name, "items": [], "keywords": pairs}


def steps(value: Any, others: dict[str, Any]) -> str:
    """Return the name of the module whose parameters are exactly those of an optimizer, "" if there is none."""
    mine = [id(each) for group in instance_dict(value).get("param_groups") or () for each in group["params"]]
    for name, other in others.items():
        if is_a(other, torch.nn.Module) and [id(each) for each in torch.nn.Module.parameters(other)] == mine:
            return name
    return ""


def by_attributes(value: Any, depth: int, recipe: Callable[[Any, int], Json]) -> Json | None:
    """Return the recipe of an object whose attributes have the names of its constructor's parameters; else None."""
    kind = type(value)
    if kind is types.SimpleNamespace or kind.__name__ == "Namespace":
        pairs = [[name, recipe(item, depth + 1)] for name, item in instance_dict(value).items()]
        return {"kind": "made", **class_reference(kind), "items": [], "keywords": pairs}
    if not members.is_open(kind) or not exists(kind):
        return None
    fields = type(value).__dict__.get("_fields")
    if is_a(value, tuple) and type(fields) is tuple:
        items = [recipe(item, depth + 1) for item in tuple.__iter__(value)]
        return {"kind": "made", **class_reference(kind), "items": items, "keywords": []}
    own = instance_dict(value)
    try:
        parameters = list(inspect.signature(kind).parameters.values())
    except (ValueError, TypeError):
        return None
    pairs = []
    for each in parameters:
        name = each.name if each.name in own else f"_{each.name}"
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        if name not in own:
            if each.default is each.empty:
                return None
        elif not same(each.default, own[name]):
            pairs.append([each.name, recipe(own[name], depth + 1)])
    return {"kind": "made", **class_reference(kind), "items": [], "keywords": pairs}
