"""Trace where the device of a tensor was chosen: from the call that placed it, through parameters, to its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from devfix.model import Diagnosis, Failure, Safety, SourceLocation
from devfix.sdk.changes import Change, change
from devfix.sdk.fixes.device_expressions import device_expressions
from devfix.sdk.trace.holders import files_of
from devfix.sdk.trace.sites import FixSite, scope_at
from devfix.source import File, Sources, last_name
from devfix.source.edits.device_arguments import applied_move, device_argument, replace_device
from devfix.source.edits.expressions import add_keyword, argument, expression
from devfix.source.queries.naming import imported_name
from devfix.source.queries.reading import assigned_values, assignments, parameters
from devfix.source.queries.repository import Definition, Repository

OWN = re.compile(r"self\.\w+")


@dataclass(frozen=True)
class DeviceSource:
    """The call at which the device of a tensor was chosen, and its argument.

    `named` is the expression that names the device. If it is None, either `.cuda()` means the current GPU, or the call
    leaves `parameter` of the callee at its default.
    """

    file: File
    call: cst.Call
    site: FixSite
    named: cst.BaseExpression | None = None
    parameter: str = ""


def device_sources(failure: Failure, places: Sequence[SourceLocation], source: Sources) -> list[DeviceSource]:
    """Return where the device of a call was chosen, outermost first: a parameter leads to what the next caller passes.

    `places` starts with the placing call, as in an event; that call comes last. The list is empty if there is no
    editable call. Callers that pass `**options` are not followed.

    >>> found = device_sources(failure, last_placement(failure.operands[1]).places, source)
    >>> [(each.file.code(each.call), each.named, each.parameter) for each in found]
    [('torch.arange(x.shape[1])', None, '')]
    """
    calls = [(place, file, call) for place in places if place.owned for file, call in _call(source, place)]
    found: list[DeviceSource] = []
    for number, (place, file, call) in enumerate(calls):
        if not number:
            if device_argument(call) is None:
                # What moves nothing, as it names the host, has placed it too.
                call = applied_move(file, call, failed_expression(file, failure)) or call
            given = device_argument(call)
            found = [DeviceSource(file, call, _site_at(failure, place), given.value if given is not None else None)]
            continue
        inner, name = found[0], found[0].named
        function = inner.file.function_of(inner.call)
        if not isinstance(name, cst.Name) or function is None or not is_passed_in(inner.file, function, name.value):
            break
        if not calls_function(file, call, inner.file, function, source) or any(each.star == "**" for each in call.args):
            break
        position = parameters(function).index(name.value) - leading_parameters(inner.file, function)
        if position < 0:  # `self`, which no caller passes
            break
        passed = argument(call, name.value, position)
        if passed is None:
            return [DeviceSource(file, call, _site_at(failure, place), parameter=name.value), *found]
        found = [DeviceSource(file, call, _site_at(failure, place), passed.value), *found]
    return found


def failed_expression(file: File, failure: Failure) -> cst.CSTNode | None:
    """Return the expression that failed, if it is one of a file, and its columns are known.

    >>> file = source.file(failure.at)
    >>> file.code(failed_expression(file, failure))
    '(x + positions)'
    """
    at = failure.at
    return file.root_at(at) if at is not None and at.path == file.path and at.column is not None else None


def change_device_sources(diagnosis: Diagnosis, found: Sequence[DeviceSource], reason: str = "") -> Iterator[Change]:
    """Yield changes that name another device: where it was chosen, for each expression, then in each callee.

    If the default of a parameter decided and no caller can be edited, the innermost callee comes first.

    >>> found = device_sources(failure, last_placement(failure.operands[1]).places, source)
    >>> [each.title for each in change_device_sources(diagnosis, found)][0]
    'Name the device `x.device` in `torch.arange`'
    """
    outer = found[0] if found else None
    function = outer.file.function_of(outer.call) if outer else None
    if (
        outer
        and function
        and isinstance(outer.named, cst.Name)
        and is_passed_in(outer.file, function, outer.named.value)
    ):
        found = found[::-1]
    for number, each in enumerate(found):
        for anchor in device_expressions(diagnosis, each.site, each.file, limit=1 if number else 3):
            made = replace_device_name(each, anchor) if not _is_other_parameter(each, anchor) else None
            if made:
                yield replace(made, reason=reason)


def pin_where_assigned(diagnosis: Diagnosis, source: Sources, name: str) -> Iterator[Change]:
    """Yield changes that resolve the device of an attribute at its assignment: `torch.empty(0, device=…).device`.

    The current GPU of the assigning thread is then used wherever the attribute is.

    >>> list(pin_where_assigned(diagnosis, source, "self.device"))
    []
    """
    for file in files_of(diagnosis.failure, source):
        empty = imported_name(file, "torch.empty")
        found = assigned_values(file, name)
        if not empty or len(found) != 1:
            continue
        value = expression(f"{empty}(0, device={file.code(found[0])}).device")
        module = file.replace({found[0]: value})
        made = change(file, module, f"Resolve `{name}` to one GPU where it is assigned", safety=Safety.LIKELY)
        if made:
            yield made


def _is_other_parameter(found: DeviceSource, anchor: str) -> bool:
    """Return whether a device and the one that is named are both parameters: who passes two means both of them.

    So does who passes one of two, and leaves the other at its default: `Replay(size, device)` of a class that has
    `storage="cpu"` as well.
    """
    if found.parameter and is_given_to_another(found, anchor):
        return True
    return found.named is not None and is_another_choice(found.file, found.call, found.file.code(found.named), anchor)


def is_another_choice(file: File, node: cst.CSTNode, named: str, device: str) -> bool:
    """Return whether two devices at a node are chosen apart: two parameters, or two attributes of the same object.

    >>> file = File("m.py", b"def f(n, device, storage):\\n    return zeros(n, device=storage)\\n")
    >>> call = file.find(file.module, "zeros(n, device=storage)")[0]
    >>> is_another_choice(file, call, "storage", "device"), is_another_choice(file, call, '"cpu"', "device")
    (True, False)
    """
    function = file.function_of(node)
    given = parameters(function) if function is not None else []
    sources = [_parameter_of(file, function, each) if OWN.fullmatch(each) else each for each in (named, device)]
    if named == device:
        return False
    return all(each in given for each in sources) or all(OWN.fullmatch(each) for each in (named, device))


def _parameter_of(file: File, function: cst.FunctionDef | None, attribute: str) -> str:
    """Return the text of what a function assigns to an attribute; "" if that is none, or several."""
    values = assigned_values(file, attribute, function) if function is not None else []
    return file.code(values[0]) if len(values) == 1 else ""


def is_given_to_another(found: DeviceSource, device: str) -> bool:
    """Return whether a call passes a device already, to another parameter than the one that it leaves out.

    >>> is_given_to_another(ctx.device_sources()[0], "x.device")
    False
    """
    return any(found.file.code(each.value) == device for each in found.call.args)


def replace_device_name(found: DeviceSource, device: str) -> Change | None:
    """Return the change that names `device` where the device of a tensor was chosen.

    >>> found = ctx.device_sources()
    >>> replace_device_name(found[0], "x.device").edits[0].after.count(b"device=x.device")
    1
    """
    file = found.file
    text = " ".join(file.code(found.call.func).split())
    if found.named is not None and file.code(found.named) == device:
        return None
    if found.parameter:
        module = file.replace({call: add_keyword(call, found.parameter, device) for call in similar_calls(found)})
        return change(file, module, f"Pass `{device}` on to `{text}`")
    nodes: dict[cst.CSTNode, cst.CSTNode] = {found.call: replace_device(found.call, device)}
    if found.named is not None and last_name(found.call.func) != "cuda":
        nodes = {node: expression(device) for node in _similar_arguments(found, found.named)}
    return change(file, file.replace(nodes), f"Name the device `{device}` in `{text}`")


def is_passed_in(file: File, function: cst.FunctionDef, name: str) -> bool:
    """Return whether a name is a parameter of a function that its body never assigns.

    >>> file = File("m.py", b"def f(x, device=None):\\n    x = x.to(device)\\n")
    >>> [is_passed_in(file, definition(file, "f"), name) for name in ("x", "device", "y")]
    [False, True, False]
    """
    return name in parameters(function) and not assignments(file, name, function.body)


def similar_calls(found: DeviceSource) -> list[cst.Call]:
    """Return the call, and the other calls of the same callee in its function that pass the device likewise."""
    file, call = found.file, found.call
    return [
        each
        for each in file.within(file.module)
        if isinstance(each, cst.Call)
        and file.code(each.func) == file.code(call.func)
        and file.function_of(each) is file.function_of(call)
        and len(each.args) == len(call.args)
        and not any(arg.star == "**" for arg in each.args)
        and argument(each, found.parameter) is None
    ]


def _similar_arguments(found: DeviceSource, named: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return the argument that names the device, and the equal arguments of similar calls."""
    number = [each.value for each in found.call.args].index(named)
    given = [call.args[number].value for call in similar_calls(found)]
    return [each for each in given if found.file.code(each) == found.file.code(named)]


def _call(source: Sources, place: SourceLocation) -> Iterator[tuple[File, cst.Call]]:
    file = source.file(place)
    if file is not None and (call := file.call_at(place)) is not None:
        yield file, call


def calls_function(outer_file: File, outer: cst.Call, file: File, function: cst.FunctionDef, source: Sources) -> bool:
    """Return whether a call calls a function: by its name, its class's or a derived one's, or through `__call__`."""
    name, called = function.name.value, last_name(outer.func)
    if name in ("forward", "__call__"):
        return True
    owner = file.class_of(function) if name == "__init__" else None
    names = [name] if owner is None else [name, owner.name.value]
    whole = outer_file.qualified_name(outer.func)
    if called in names or any(whole.endswith(f".{each}") for each in names):
        return True
    repository = Repository(source)
    made = repository.class_of(outer_file, outer) if owner is not None else None
    inherited = repository.method(made, name) if isinstance(made, Definition) else None
    return inherited is not None and Definition(file, function).is_same(inherited)


def leading_parameters(file: File, function: cst.FunctionDef) -> int:
    """Return how many leading parameters a call does not pass: the `self` or `cls` of a method."""
    static = any(last_name(each.decorator) == "staticmethod" for each in function.decorators)
    return int(isinstance(file.parent(file.parent(function) or function), cst.ClassDef) and not static)


def _site_at(failure: Failure, place: SourceLocation) -> FixSite:
    return FixSite("creation", place, scope_at(failure, place))
