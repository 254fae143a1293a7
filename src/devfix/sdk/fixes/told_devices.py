"""Tell a device to functions that can be told one, and are told none on the way to where a tensor was created."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import libcst as cst

from devfix.model import Diagnosis
from devfix.sdk.changes import Change, change, join_changes
from devfix.sdk.fixes.device_expressions import device_expressions
from devfix.sdk.fixes.device_source import (
    DeviceSource,
    calls_function,
    is_given_to_another,
    is_passed_in,
    leading_parameters,
    similar_calls,
)
from devfix.sdk.trace.placement import placement_locations
from devfix.sdk.trace.sites import FixSite, scope_at
from devfix.source import File, Sources
from devfix.source.edits.expressions import add_keyword, argument
from devfix.source.queries.reading import parameter_nodes, parameters


def tell_device(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Yield changes that pass a device in a call that leaves it out, and on in the calls between it and the creation.

    The functions between have a parameter for the device each. They may create the tensor without it, and move it only
    if they are told a device.

    >>> list(tell_device(diagnosis, source))  # no function between has a parameter for a device
    []
    """
    untold: list[DeviceSource] = []
    for (inner_file, inner, _), (file, call, site) in pairwise(_calls(diagnosis, source)):
        function = inner_file.function_of(inner)
        name = _device_parameter(inner_file, function) if function is not None else ""
        if function is None or call is inner:
            continue
        if not name or not calls_function(file, call, inner_file, function, source):
            untold = []
            continue
        position = parameters(function).index(name) - leading_parameters(inner_file, function)
        if any(each.star for each in call.args) or argument(call, name, position) is not None:
            return
        inside = untold if untold and untold[-1].call is inner else []
        untold = [*inside, DeviceSource(file, call, site, parameter=name)]
        for device in device_expressions(diagnosis, site, file):
            made = None if is_given_to_another(untold[-1], device) else _pass_on(untold, device)
            if made is not None:
                yield made


def _calls(diagnosis: Diagnosis, source: Sources) -> Iterator[tuple[File, cst.Call, FixSite]]:
    """Yield the owned calls from the one that placed the operand outward."""
    for place in placement_locations(diagnosis):
        file = source.file(place) if place.owned else None
        call = file.call_at(place) if file is not None else None
        if file is not None and call is not None:
            yield file, call, FixSite("creation", place, scope_at(diagnosis.failure, place))


def _device_parameter(file: File, function: cst.FunctionDef) -> str:
    """Return the parameter with a default by which a function is told a device, and which it reads; else ""."""
    for each in parameter_nodes(function):
        name = each.name.value
        if name.endswith("device") and each.default is not None and is_passed_in(file, function, name):
            return name if file.find(function.body, name) else ""
    return ""


def _pass_on(untold: Sequence[DeviceSource], device: str) -> Change | None:
    """Return the change of the calls, innermost first: each passes on what its own function was told."""
    values = [each.parameter for each in untold[1:]] + [device]
    edits: dict[str, dict[cst.CSTNode, cst.CSTNode]] = defaultdict(dict)
    files = {each.file.path: each.file for each in untold}
    for each, value in zip(untold, values, strict=True):
        calls = similar_calls(each)
        edits[each.file.path] |= {call: add_keyword(call, each.parameter, value) for call in calls}
    text = " ".join(untold[-1].file.code(untold[-1].call.func).split())
    title = f"Pass `{device}` on to `{text}`"
    return join_changes(
        title, *(change(files[path], files[path].replace(found), title) for path, found in edits.items())
    )
