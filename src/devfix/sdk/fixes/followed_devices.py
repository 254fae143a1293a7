"""Follow a `.device` back to the tensor from which it was read."""

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

NAMES = 4  # at most, followed from one assignment to the next


def find_followed(failure: Failure, places: Sequence[SourceLocation], source: Sources) -> ScopeVariable | None:
    """Return the tensor whose device decided where another one was created, through names and function calls.

    This is `x` for `zeros(3, device=x.device)`, `zeros(3).to(x.device)`, `zeros_like(x)` and `x.new_zeros(3)`. For
    `zeros(3, device=device)` the assignment of the name, or the argument of the caller, is followed, and for
    `zeros(3, device=self.device)` the assignment in the class, or what its property returns. `places` starts with the
    call that creates the tensor, as in an event. Returns None if the device was named otherwise.

    >>> find_followed(failure, last_placement(failure.operands[1]).places, source) is None
    True
    """
    expression: cst.BaseExpression | None = None
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
            expression = _device_argument(file, call)
        else:
            expression = _passed_value(file, call, *inner, expression, source)
        expression = _assigned_value(file, call, expression)
        expression = _stored_value(file, call, expression) or _property_value(file, call, expression) or expression
        if isinstance(expression, cst.Attribute) and expression.attr.value == "device":
            return binding_at(failure, place, file.code(expression.value))
        if not isinstance(expression, cst.Name):
            return None
        inner = file, call
    return None


def _like(call: cst.Call) -> cst.BaseExpression | None:
    """Return the tensor that a call takes as a template: `x.new_zeros(2)`, `zeros_like(x)`."""
    name = last_name(call.func)
    if device_argument(call) is not None:
        return None
    if name.startswith("new_") and isinstance(call.func, cst.Attribute):
        return call.func.value
    return call.args[0].value if name.endswith("_like") and call.args else None


def _device_argument(file: File, call: cst.Call) -> cst.BaseExpression | None:
    """Return the expression that names the device: an argument of the creating call, or of a `.to(…)` after it."""
    given = device_argument(call)
    while given is None:
        method = file.parent(call)
        behind = file.parent(method) if isinstance(method, cst.Attribute) and method.value is call else None
        if not isinstance(behind, cst.Call) or behind.func is not method:
            return None
        call = behind
        given = device_argument(call) if last_name(call.func) == "to" else None
    return given.value


def _assigned_value(file: File, call: cst.Call, expression: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """Return the value of a local name that its function assigns once."""
    function = file.function_of(call)
    for _ in range(NAMES):
        given = assignments(file, expression.value, function or file.module) if isinstance(expression, cst.Name) else []
        if len(given) != 1 or given[0].value is None:
            break
        expression = given[0].value
    return expression


def _stored_value(file: File, call: cst.Call, expression: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """Return the value of an attribute that the class of a call assigns once, in names that its other methods have.

    `self.device = x.device` in a constructor is `self.x.device` elsewhere if the constructor stores `x` as well.
    """
    stored = _assigned_attribute(file, call, expression)
    if stored is None or not isinstance(stored.value, cst.Attribute):
        return None
    tensor = stored.value.value
    if not isinstance(tensor, cst.Name):
        return stored.value
    function, name = file.function_of(stored), tensor.value
    assigned = [each for each in file.within(function or stored) if isinstance(each, cst.Assign)]
    kept = [
        each.targets[0].target
        for each in assigned
        if isinstance(each.value, cst.Name) and each.value.value == name and len(each.targets) == 1
    ]
    held = [each for each in kept if isinstance(each, cst.Attribute) and _is_assigned_once(file, call, each)]
    return stored.value.with_changes(value=held[0]) if held else None


def _property_value(file: File, call: cst.Call, expression: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """Return what a property of a call's class returns, if it is one line and both methods name the object alike."""
    holder, function = file.class_of(call), file.function_of(call)
    if holder is None or function is None or not isinstance(expression, cst.Attribute):
        return None
    own, name = parameters(function)[:1], expression.attr.value
    methods = [each for each in holder.body.body if isinstance(each, cst.FunctionDef) and each.name.value == name]
    if file.code(expression.value) not in own or len(methods) != 1 or parameters(methods[0]) != own:
        return None
    marks = [last_name(each.decorator) for each in methods[0].decorators]
    returned = list(file.within(methods[0], cst.Return))
    return returned[0].value if marks == ["property"] and len(returned) == 1 else None


def _assigned_attribute(file: File, call: cst.Call, expression: cst.BaseExpression | None) -> cst.Assign | None:
    """Return the only assignment, in the class of a call, to an attribute of the object whose method the call is in."""
    if not isinstance(expression, cst.Attribute) or not _is_assigned_once(file, call, expression):
        return None
    holder = file.class_of(call)
    found = assignments(file, file.code(expression), holder)[0] if holder is not None else None
    return found if isinstance(found, cst.Assign) else None


def _is_assigned_once(file: File, call: cst.Call, attribute: cst.Attribute) -> bool:
    holder, function = file.class_of(call), file.function_of(call)
    first = parameters(function)[:1] if function is not None else []
    is_own = isinstance(attribute.value, cst.Name) and [attribute.value.value] == first
    return is_own and holder is not None and len(assignments(file, file.code(attribute), holder)) == 1


def _passed_value(
    file: File, call: cst.Call, inner_file: File, inner: cst.Call, name: cst.BaseExpression | None, source: Sources
) -> cst.BaseExpression | None:
    """Return what a call passes for a parameter of the function in which an inner call is."""
    function = inner_file.function_of(inner)
    if function is None or not isinstance(name, cst.Name) or not is_passed_in(inner_file, function, name.value):
        return None
    if not calls_function(file, call, inner_file, function, source) or any(each.star == "**" for each in call.args):
        return None
    position = parameters(function).index(name.value) - leading_parameters(inner_file, function)
    found = argument(call, name.value, position) if position >= 0 else None
    return found.value if found is not None else None
