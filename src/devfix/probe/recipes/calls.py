"""The calls on the stack of a failure: the function, and how a test can recreate its arguments."""

from __future__ import annotations

import inspect
import os
import sys
import types
from typing import Any

import torch

from ..inspection.members import is_a
from ..provenance import places
from ..provenance.qualnames import qualname
from . import objects
from .modules import defaults, module_name, module_recipe, same
from .recipes import recipe

Json = dict[str, Any]
_MOST = 8  # calls to describe, innermost first
_RUNS_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
_wanted = False


def want(wanted: bool) -> None:
    """Set whether calls are recorded."""
    global _wanted
    _wanted = wanted


def is_active() -> bool:
    """Return whether calls are recorded."""
    return _wanted


def describe_calls(frames: list[types.FrameType]) -> list[Json]:
    """Return the calls of owned functions that a test could make, innermost first."""
    described: list[Json] = []
    for number in reversed(range(len(frames))):
        frame = frames[number]
        if places.kind_of(frame.f_code) == places.OWNED and len(described) < _MOST:
            call = _call(frame)
            if call is not None:
                described.append({"frame": number, **call})
    return described


def _call(frame: types.FrameType) -> Json | None:
    code = frame.f_code
    if code.co_flags & _RUNS_LATER or code.co_name.startswith("<"):
        return None
    imported = _describe_import(frame)
    target = _target(frame)
    if imported is None or target is None:
        return None
    how, name, function, skip, instance = target
    return {
        **imported,
        "how": how,
        "function": name,
        "instance": instance,
        "arguments": _arguments(frame, function, skip),
    }


def _describe_import(frame: types.FrameType) -> Json | None:
    """Return the module's name and the folder from which it is imported."""
    given = frame.f_globals.get("__name__")
    if type(given) is not str:
        return None
    name = module_name(given)
    path = os.path.splitext(os.path.realpath(frame.f_code.co_filename))[0]
    parts = name.split(".")
    if os.path.basename(path) == "__init__":
        path = os.path.dirname(path)
    if path.split(os.sep)[-len(parts) :] != parts:
        return None
    return {"module": name, "root": os.sep.join(path.split(os.sep)[: -len(parts)]), "is_main": given == "__main__"}


def _target(frame: types.FrameType) -> tuple[str, str, Any, int, Json | None] | None:
    """Return how the call is written, the function's name, the function, the leading arguments, and `self`."""
    code = frame.f_code
    name, first = code.co_name, None
    if code.co_argcount:
        first = frame.f_locals.get(code.co_varnames[0])
    for kind in type(first).__mro__ if first is not None else ():
        entry = kind.__dict__.get(name)
        if entry is not None and _runs(entry, code):
            return _method(name, entry, first)
    if isinstance(first, type) and (entry := inspect.getattr_static(first, name, None)) and _runs(entry, code):
        return "static", f"{first.__qualname__}.{name}", getattr(entry, "__func__", entry), 1, None
    function = frame.f_globals.get(name)
    if callable(function) and not isinstance(function, type):
        return "function", name, function, 0, None
    owner, _, method = qualname(code).rpartition(".")
    holder = frame.f_globals.get(owner)
    entry = holder.__dict__.get(method) if isinstance(holder, type) else None
    if type(entry) is staticmethod:
        return "static", f"{owner}.{method}", entry.__func__, 0, None
    return None


def _method(name: str, entry: Any, first: Any) -> tuple[str, str, Any, int, Json | None]:
    if name == "__init__":
        described = recipe(type(first))
        return "make", str(described.get("text", "")), entry, 1, described
    how = "property" if type(entry) is property else "method"
    return how, name, entry.fget if how == "property" else entry, 1, module_recipe(first) or recipe(first)


def _runs(entry: Any, code: types.CodeType) -> bool:
    """Return whether an attribute of a class runs this code, with or without decorators."""
    function = entry.fget if type(entry) is property else getattr(entry, "__func__", entry)
    while function is not None:
        if getattr(function, "__code__", None) is code:
            return True
        function = getattr(function, "__wrapped__", None)
    return False


def _arguments(frame: types.FrameType, function: Any, skip: int) -> list[Json]:
    code, values = frame.f_code, frame.f_locals
    known = defaults(function)
    named = code.co_argcount + code.co_kwonlyargcount
    described = []
    for at, name in enumerate(code.co_varnames[:named]):
        if at < skip:
            continue
        value = values.get(name)
        how = "plain" if at < code.co_argcount else "keyword"
        if at < code.co_posonlyargcount:
            how = "positional"
        described.append({"name": name, "how": how, "is_default": name in known and same(known[name], value)})
        made = recipe(value) if name in values else {"kind": "unknown", "text": name}
        if is_a(value, torch.optim.Optimizer):
            given = {other: values[other] for other in code.co_varnames[skip:named] if other in values}
            made = _stepping(made, objects.steps(value, given))
        described[-1]["value"] = made
    if code.co_flags & inspect.CO_VARARGS:
        described += [
            {"name": "", "how": "more", "value": recipe(item)} for item in values.get(code.co_varnames[named], ())
        ]
        named += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        rest = values.get(code.co_varnames[named], {})
        described += [{"name": name, "how": "keyword", "value": recipe(item)} for name, item in rest.items()]
    return described


def _stepping(described: Json, module: str) -> Json:
    if not module:
        return {"kind": "unknown", "text": "optimizer"}
    return {**described, "items": [{"kind": "parameters", "text": module}]}


def test() -> str:
    """Return the pytest id of the current test, "" if there is none."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0] if "_pytest" in sys.modules else ""
