"""Record the arguments with which modules are constructed."""

from __future__ import annotations

import inspect
import sys
import time
import types
import weakref
from typing import Any

from . import modules
from .modules import defaults, same
from .recipes import recipe

Json = dict[str, Any]
_MODULES, _SECONDS = 3_000, 1.0  # limits of recorded modules, and of CPU time in all
_HIGH = 12  # frames between `Module.__init__` and the constructor of a subclass
_spent = 0.0


def note(module: Any) -> None:
    """Record the arguments of the constructor in progress, which has called `Module.__init__`."""
    global _spent
    if len(modules.seen) >= _MODULES or _spent > _SECONDS:
        return
    began = time.thread_time()
    outer: types.FrameType | None = None
    frame: types.FrameType | None = sys._getframe(2)
    for _ in range(_HIGH):
        if frame is None:
            break
        code = frame.f_code
        if code.co_name == "__init__" and code.co_argcount and frame.f_locals.get(code.co_varnames[0]) is module:
            outer = frame
        frame = frame.f_back
    described: Json = {"items": [], "keywords": []}
    if outer is not None:
        _arguments(described, outer)
    modules.seen[id(module)] = weakref.ref(module), described
    _spent += time.thread_time() - began


def _arguments(described: Json, frame: types.FrameType) -> None:
    code, values = frame.f_code, frame.f_locals
    named = code.co_argcount + code.co_kwonlyargcount
    usual = defaults(type(values[code.co_varnames[0]]).__init__)
    for name in code.co_varnames[1:named]:
        value = values.get(name)
        if name not in usual or not same(usual[name], value):
            described["keywords"].append([name, recipe(value, 1)])
    if code.co_flags & inspect.CO_VARARGS:
        more = values.get(code.co_varnames[named], ())
        if more:
            described["items"] = [value for _, value in described["keywords"][: code.co_argcount - 1]]
            described["items"] += [recipe(item, 1) for item in more]
            described["keywords"] = described["keywords"][code.co_argcount - 1 :]
        named += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        described["keywords"] += [
            [name, recipe(item, 1)] for name, item in values.get(code.co_varnames[named], {}).items()
        ]
