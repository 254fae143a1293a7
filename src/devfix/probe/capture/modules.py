"""Record where modules are created and moved, and the final device map."""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch

from ..inspection.members import instance_dict, is_a
from ..inspection.scope import device_of, module_tensors
from ..provenance import tracking
from ..provenance.records import moving
from ..recipes import calls, constructor_args
from ..simulation.patching import replace

Module = torch.nn.Module


def install() -> None:
    """Record the creation of modules and parameters, and the moves of modules."""
    _install_making()
    _install_moves()
    _install_parameters()


def _install_making() -> None:
    original = Module.__init__

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        tracking.record_module(self)
        if calls.is_active():
            constructor_args.note(self)

    replace(Module, "__init__", __init__)


def _install_moves() -> None:
    original = Module._apply

    @functools.wraps(original)
    def _apply(self: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(moving, "together", False):
            return original(self, *args, **kwargs)  # type: ignore[no-untyped-call]
        before = _devices_by_module(self)
        moving.together = True
        try:
            return original(self, *args, **kwargs)  # type: ignore[no-untyped-call]
        finally:
            moving.together = False
            _tell_moves(before, _devices_by_module(self), f"torch.nn.Module.{sys._getframe(1).f_code.co_name}")

    replace(Module, "_apply", _apply)


def _devices_by_module(module: Any) -> dict[int, tuple[Any, str]]:
    """Return the modules of a tree and their own parameters (which keep their identity when moved), with devices."""
    placed = {id(inner): (inner, device_of("module", inner)) for inner in tree(module)}
    placed.update((id(tensor), (tensor, str(tensor.device))) for tensor in module_tensors(module))
    return placed


def _tell_moves(before: dict[int, tuple[Any, str]], after: dict[int, tuple[Any, str]], what: str) -> None:
    groups: dict[tuple[str, str], list[Any]] = {}
    for key, (thing, device) in after.items():
        if key in before and before[key][1] != device:
            groups.setdefault((before[key][1], device), []).append(thing)
    for (there, here), things in groups.items():
        tracking.moved_together(things, what, there, here)


def _install_parameters() -> None:
    original = torch.nn.Parameter.__new__

    @functools.wraps(original)
    def __new__(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        parameter = original(cls, data, requires_grad)
        if data is not None and parameter is not data:
            tracking.adopt(parameter, data, "parameter")
        return parameter

    replace(torch.nn.Parameter, "__new__", staticmethod(__new__))


def tree(module: Any) -> list[Any]:
    """Return a module and all modules below it."""
    found, stack, seen = [], [module], set()
    while stack:
        inner = stack.pop()
        if id(inner) not in seen and is_a(inner, Module):
            seen.add(id(inner))
            found.append(inner)
            stack.extend((instance_dict(inner).get("_modules") or {}).values())
    return found
