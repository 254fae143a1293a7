"""Find what a program meant to train: modules and parameters in plain containers that get gradients, and no optimizer.

A patch that registers them lets an optimizer train them, which changes what the program computes on any device.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from ..simulation import patching

_MOST = 8  # optimizers whose first step is looked at: each takes a walk over all objects, 0.15 s for a million
_DEPTH = 3  # of containers in containers

_names: list[str] = []
_seen: set[int] = set()  # optimizers
_trained: set[int] = set()  # parameters of an optimizer
_found: dict[tuple[str, str], dict[int, int]] = {}  # class and attribute: the parameters, with their numbers of values


def want(names: Iterable[str]) -> None:
    """Start to look for what attributes of these names keep in plain containers."""
    _names[:] = names


def install() -> None:
    """Look at each optimizer at its first step, when all that it was to train has gradients."""
    if _names:
        handle = register_optimizer_step_pre_hook(_look)
        patching.undo_with(handle.remove)


def export() -> list[dict[str, Any]]:
    """Return the attributes whose parameters have gradients, while no optimizer that has stepped has one of them."""
    return [
        {"type": kind, "attribute": name, "parameters": len(sizes), "values": sum(sizes.values())}
        for (kind, name), sizes in _found.items()
        if _trained.isdisjoint(sizes)
    ]


def _look(optimizer: Any, args: Any, kwargs: Any) -> None:
    if id(optimizer) in _seen:
        return
    _seen.add(id(optimizer))
    try:
        own = {id(each) for group in optimizer.param_groups for each in group["params"]}
        _trained.update(own)
        if len(_seen) <= _MOST:
            _search(own)
    except Exception:  # a module that refuses to be read: nothing is known of it
        return


def _search(own: set[int]) -> None:
    """Collect the parameters with gradients in plain containers of the models whose parameters are in `own`."""
    modules = [each for each in gc.get_objects() if issubclass(type(each), torch.nn.Module)]
    models = [each for each in modules if any(id(parameter) in own for parameter in each.parameters())]
    for module in {id(part): part for model in models for part in model.modules()}.values():
        for name in _names:
            value = module.__dict__.get(name)
            sizes = {id(each): each.numel() for each in _parameters_in(value, _DEPTH) if each.grad is not None}
            if sizes:
                _found.setdefault((type(module).__name__, name), {}).update(sizes)


def _parameters_in(value: Any, depth: int) -> Iterator[Any]:
    """Yield the parameters in a container that registers none."""
    if isinstance(value, torch.nn.Module):
        yield from value.parameters()
    elif isinstance(value, torch.nn.Parameter):
        yield value
    elif depth and isinstance(value, (list, tuple, set, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _parameters_in(each, depth - 1)
