"""Describe how a module was constructed, and the devices of its parts, so that a test can recreate it."""

from __future__ import annotations

import inspect
import os
import sys
from typing import Any

import torch

from ..inspection.members import Module, instance_dict
from ..inspection.scope import device_of, module_tensors

Json = dict[str, Any]
seen: dict[int, tuple[Any, Json]] = {}  # by identity: a weak reference, and the arguments


def defaults(function: Any) -> dict[str, Any]:
    """Return the defaults of a function's parameters by their names."""
    function = inspect.unwrap(function) if callable(function) else None
    code = getattr(function, "__code__", None)
    if function is None or code is None:
        return {}
    given = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
    return {**dict(zip(names, given, strict=True)), **(function.__kwdefaults__ or {})}


def same(default: Any, value: Any) -> bool:
    """Return whether an argument is the default."""
    plain = (type(None), bool, int, float, str, tuple)
    return default is value or (type(default) is type(value) and type(value) in plain and default == value)


def module_recipe(module: Any) -> Json | None:
    """Return the recipe of a module, on its current devices; None if its construction was not recorded."""
    known = seen.get(id(module))
    kind = type(module)
    if known is None or known[0]() is not module or not exists(kind):
        return None
    described: Json = {"kind": "made", **class_reference(kind), **known[1]}
    if not instance_dict(module).get("training", True):
        described["evaluates"] = True
    dtypes = {tensor.dtype for tensor in module_tensors(module) if tensor.is_floating_point()}
    if len(dtypes) == 1 and (dtype := dtypes.pop()) is not torch.float32:
        described["dtype"] = str(dtype).removeprefix("torch.")
    described["moves"] = [[path, device] for path, device in _moves(module, "", "cpu")][:12]
    return described


def _moves(module: Any, path: str, now: str) -> list[tuple[str, str]]:
    """Return which parts to move where, outermost first, to reproduce the devices."""
    here = device_of("module", module)
    if here != "mixed":
        return [] if here in ("", now) else [(path, here)]
    own = instance_dict(module)
    tables = [own.get("_parameters") or {}, own.get("_buffers") or {}]
    mine = [str(tensor.device) for table in tables for tensor in table.values() if tensor is not None]
    moves = []
    if mine and mine[0] != now:
        moves.append((path, mine[0]))
        now = mine[0]
    for name, child in (own.get("_modules") or {}).items():
        if child is not None:
            moves += _moves(child, f"{path}.{name}" if path else name, now)
    return moves


def exists(kind: type) -> bool:
    """Return whether a class is what its module has under its name."""
    found: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind


def class_reference(kind: type) -> Json:
    """Return the module and name of a class; those of torch.nn in the short form."""
    module, name = kind.__module__, kind.__qualname__
    if issubclass(kind, Module) and getattr(torch.nn, name, None) is kind:
        return {"module": "torch", "text": f"nn.{name}"}
    return {"module": module_name(module), "text": name}


def module_name(name: str) -> str:
    """Return the name under which a test imports a module: that of the file, for the one that was started."""
    if name != "__main__":
        return name
    main = sys.modules.get("__main__")  # None in a destructor at the very end
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name:
        return str(spec.name)
    return os.path.splitext(os.path.basename(getattr(main, "__file__", None) or "__main__"))[0]
