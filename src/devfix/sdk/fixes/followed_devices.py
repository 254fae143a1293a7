"""Whose device a tensor was given: a `.device` that was read, back to the tensor that it was read from."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devfix.model import Failure, ScopeVariable, SourceLocation
from devfix.sdk.fixes.device_source import calls_function, is_passed_in, leading_parameters
from devfix.sdk.trace.scopes import binding_at
from devfix.source import File, Sources, last_name
from devfix.source.edits.device_arguments import device_argument
from devfix.source.edits.expressions import argument
from devfix.source.queries.reading import assignments, parameters

NAMES = 4  # followed from one assignment to the next


def followed(failure: Failure, places: Sequence[SourceLocation], source: Sources) -> ScopeVariable | None:
    """The tensor whose device decided where another one was made, through names and the calls of functions.

    `x` for `zeros(3, device=x.device)`, `zeros(3).to(x.device)`, `zeros_like(x)` and `x.new_zeros(3)`; for
    `zeros(3, device=device)` what the name was given, or what the caller passes. `places` begins with the call that
    makes the tensor, as those of an event do. None where the device was named otherwise.

    >>> followed(failure, last_placement(failure.operands[1]).places, source) is None
    True
    """
    told: cst.BaseExpression | None = None
    inner: tuple[File, cst.Call] | None = None
    for place in places:
        file = source.file(place) if place.owned else None
        call = file.call_at(place) if file is not None else None
        if file is None or call is None:
            return None
        if inner is None:
            node = _like(call)
            if node is not None:
                return binding_at(failure, place, file.code(node))
            told = _told(file, call)
        else:
            told = _passed(file, call, *inner, told)
        told = _named(file, call, told)
        if isinstance(told, cst.Attribute) and told.attr.value == "device":
            return binding_at(failure, place, file.code(told.value))
        if not isinstance(told, cst.Name):
            return None
        inner = file, call
    return None


def _like(call: cst.Call) -> cst.BaseExpression | None:
    """The tensor that a call names as a whole: `x.new_zeros(2)`, `zeros_like(x)`."""
    name = last_name(call.func)
    if device_argument(call) is not None:
        return None
    if name.startswith("new_") and isinstance(call.func, cst.Attribute):
        return call.func.value
    return call.args[0].value if name.endswith("_like") and call.args else None


def _told(file: File, call: cst.Call) -> cst.BaseExpression | None:
    """What names the device: an argument of the call that makes a tensor, or of a `.to(…)` behind it."""
    given = device_argument(call)
    while given is None:
        method = file.parent(call)
        behind = file.parent(method) if isinstance(method, cst.Attribute) and method.value is call else None
        if not isinstance(behind, cst.Call) or behind.func is not method:
            return None
        call = behind
        given = device_argument(call) if last_name(call.func) == "to" else None
    return given.value


def _named(file: File, call: cst.Call, told: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """What a local name was given, where its function gives it a value once."""
    function = file.function_of(call)
    for _ in range(NAMES):
        given = assignments(file, told.value, function or file.module) if isinstance(told, cst.Name) else []
        if len(given) != 1 or given[0].value is None:
            break
        told = given[0].value
    return told


def _passed(
    file: File, call: cst.Call, inner_file: File, inner: cst.Call, name: cst.BaseExpression | None
) -> cst.BaseExpression | None:
    """What a call passes for a parameter of the function in which an inner call stands."""
    function = inner_file.function_of(inner)
    if function is None or not isinstance(name, cst.Name) or not is_passed_in(inner_file, function, name.value):
        return None
    if not calls_function(file, call, inner_file, function) or any(each.star == "**" for each in call.args):
        return None
    position = parameters(function).index(name.value) - leading_parameters(inner_file, function)
    found = argument(call, name.value, position) if position >= 0 else None
    return found.value if found is not None else None
