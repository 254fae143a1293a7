"""Record where modules are created and moved, and the final device map."""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

import torch

from ..inspection.members import instance_dict, is_a
from ..inspection.scope import device_of, module_tensors
from ..provenance import tracking
from ..provenance.records import DEVICE, MOVE, moving, of
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
        caller = sys._getframe(1)
        what = f"torch.nn.Module.{caller.f_code.co_name}"
        try:
            result = original(self, *args, **kwargs)  # type: ignore[no-untyped-call]
        finally:
            moving.together = False
            after = _devices_by_module(self)
            _tell_moves(before, after, what)
        _tell_moves_of_nothing([thing for thing, device in after.values() if not device], what, caller)
        return result

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


def _tell_moves_of_nothing(modules: list[Any], what: str, caller: FrameType) -> None:
    """Record the moves of modules that register nothing, which is where plain attributes stay behind unseen."""
    here = _destination(caller) if modules else ""
    groups: dict[str, list[Any]] = {}
    for module in modules if here else ():
        known = of(module)
        last = known[MOVE] if known is not None else None
        groups.setdefault("cpu" if last is None else last[DEVICE], []).append(module)
    for there, things in groups.items():
        if there != here:
            tracking.moved_together(things, what, there, here)


def _destination(caller: FrameType) -> str:
    """Return the device to which a method of `torch.nn.Module` moves what it holds; "" if it moves nothing."""
    name, given = caller.f_code.co_name, caller.f_locals.get("device")
    is_move = caller.f_globals.get("__name__") == Module.__module__ and name in ("to", "cuda", "cpu", "xpu")
    if not is_move or (name == "to" and given is None):
        return ""
    try:
        device = torch.device(name, given) if isinstance(given, int) else torch.device(name if given is None else given)
    except (RuntimeError, TypeError):
        return ""  # of a module with a tensor, PyTorch would refuse it
    if device.index is None and device.type in ("cuda", "xpu"):
        backend = getattr(torch, device.type)  # which the question for the current device would initialize
        return f"{device.type}:{backend.current_device() if backend.is_initialized() else 0}"
    return str(device)


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
