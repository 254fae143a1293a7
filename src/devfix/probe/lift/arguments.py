"""Find what a call was given: the values of its parameters, without those that the function has bound itself.

A frame tells what its parameters are now. A function may have given one another value since (`if mask is None: mask =
…`), which says nothing of its caller. Whether that one has passed anything is in the source of the call. Nor has a
caller passed the tensor that is the default of a parameter: the code under test has made it.
"""

from __future__ import annotations

import ast
import dis
import linecache
import os
from collections.abc import Iterator
from functools import lru_cache
from inspect import CO_VARARGS, CO_VARKEYWORDS
from itertools import islice
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ..inspection.members import is_a
from ..provenance.qualnames import qualname
from .whose import Whose, kind_of

_STORES = frozenset({"STORE_FAST", "STORE_DEREF", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"})
_OWNERS = ("self", "cls")
_UNIT = 2  # bytes of an instruction
_WRAPPERS = 10  # of a function, which decorators put around it
_known_defaults: dict[CodeType, dict[str, Any]] = {}
_PASS_ON = tuple(each.replace("/", os.sep) for each in ("/torch/nn/modules/module.py", "/torch/utils/_contextlib.py"))


def parameters(code: CodeType) -> tuple[str, ...]:
    """Return the names of the parameters of a function, those of `*args` and `**kwargs` included."""
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_varnames[: count + bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)]


def default_device(kind: Any) -> Any:
    """Return the `device` with which a class makes an object that is told none; "" where its constructor takes none."""
    made_by = kind.__init__
    code = getattr(made_by, "__code__", None)
    return _defaults(made_by).get("device", "") if code is not None and "device" in parameters(code) else ""


def _defaults(function: Any) -> dict[str, Any]:
    """Return the defaults of a function by the names of their parameters."""
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    return dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)) | (function.__kwdefaults__ or {})


def received_values(call: FrameType) -> Iterator[tuple[str, Any]]:
    """Yield the parameters that hold what the caller has passed or what was computed of it, each with its value."""
    defaults = _default_tensors(call)
    for name in parameters(call.f_code):
        if name not in _assigned_parameters(call.f_code) or is_passed(call, name):
            value = call.f_locals.get(name)
            if name not in defaults or value is not defaults[name]:
                yield name, value


def _default_tensors(call: FrameType) -> dict[str, Any]:
    """Return the defaults of a running function that are tensors, or hold some, by the names of their parameters."""
    code = call.f_code
    if code not in _known_defaults:
        function = _function(call)
        found = {} if function is None else _defaults(function)
        _known_defaults[code] = {name: value for name, value in found.items() if _has_tensors(value)}
    return _known_defaults[code]


def _has_tensors(value: Any) -> bool:
    return is_a(value, torch.nn.Module) or any(is_a(each, torch.Tensor) for each in tree_leaves(value))


def _function(call: FrameType) -> FunctionType | None:
    """Return the function that runs in a frame, by its name in its module; None for one that another has made."""
    name, *inner = qualname(call.f_code).split(".")
    found: Any = call.f_globals.get(name)
    for each in inner:
        found = vars(found).get(each) if isinstance(found, type) else None
    found = found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
    for _ in range(_WRAPPERS):
        if not isinstance(found, FunctionType) or found.__code__ is call.f_code:
            break
        found = vars(found).get("__wrapped__")
    return found if isinstance(found, FunctionType) and found.__code__ is call.f_code else None


@lru_cache(maxsize=4096)
def _assigned_parameters(code: CodeType) -> frozenset[str]:
    """Return the parameters to which a function assigns."""
    found: set[str] = set()
    for each in dis.get_instructions(code):
        if each.opname in _STORES:
            found.update((each.argval,) if isinstance(each.argval, str) else each.argval)
    return frozenset(found.intersection(parameters(code)))


def is_passed(call: FrameType, name: str) -> bool:
    """Return whether test code passes a parameter, by the source of its call; true where that does not tell."""
    outer = call.f_back
    while outer is not None and _passes_on(outer.f_code):
        outer = outer.f_back
    if outer is None or kind_of(outer.f_code) != Whose.TEST:
        return True
    source = _source(outer.f_code, outer.f_lasti)
    if source is None or not _calls_by_name(source.func, call.f_code.co_name):
        return True
    names = [each.arg for each in source.keywords]
    if name in names or None in names or any(isinstance(each, ast.Starred) for each in source.args):
        return True
    positional = call.f_code.co_varnames[: call.f_code.co_argcount]
    if name not in positional:
        return name in call.f_code.co_varnames[len(positional) + call.f_code.co_kwonlyargcount :]  # a rest
    return positional.index(name) < len(source.args) + (positional[0] in _OWNERS)


def _passes_on(code: CodeType) -> bool:
    """Return whether a frame stands between a call and what it calls, and passes all arguments on."""
    return kind_of(code) == Whose.PROBE or code.co_filename.endswith(_PASS_ON)


def _calls_by_name(called: ast.expr, name: str) -> bool:
    """Return whether an expression names the function itself: no alias, which may have arguments of its own."""
    if name in ("__init__", "__call__", "forward"):
        return True
    return name == (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", ""))


@lru_cache(maxsize=4096)
def _source(code: CodeType, at: int) -> ast.Call | None:
    """Return the call at an instruction, None where the source is not there or Python does not tell the place."""
    if not hasattr(code, "co_positions"):
        return None  # Python 3.10
    place = next(islice(code.co_positions(), at // _UNIT, None), None)
    text = "".join(linecache.getlines(code.co_filename))  # that of a docstring example is there while it runs
    return None if place is None or None in place else _calls(text).get(place)


@lru_cache(maxsize=64)
def _calls(text: str) -> dict[tuple[int | None, ...], ast.Call]:
    """Return the calls of a text, each by its first and last line and column."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    found = (each for each in ast.walk(tree) if isinstance(each, ast.Call))
    return {(each.lineno, each.end_lineno, each.col_offset, each.end_col_offset): each for each in found}
