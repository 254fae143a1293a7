"""Pass the device to factory calls that lack it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import libcst as cst

from devfix.model import Diagnosis, Failure, ScopeVariable, SourceLocation
from devfix.sdk.changes import Change, change
from devfix.sdk.fixes.device_expressions import device_expressions, means
from devfix.sdk.fixes.device_source import failed_expression, is_another_choice
from devfix.sdk.trace.operands import DEVICE_KINDS
from devfix.sdk.trace.sites import FixSite, scope_at
from devfix.source import File, Sources, last_name
from devfix.source.edits.device_arguments import applied_move, conditional_of_alike
from devfix.source.edits.expressions import add_keyword, argument, is_move, move_to
from devfix.source.edits.listed_tensors import created_for_list, is_drawn
from devfix.source.queries.reading import definition, method_call_on, parameters
from devfix.source.queries.writes import what_is_written

# Factories with `device=`, without those that draw random numbers: another device draws other numbers.
FACTORIES = frozenset(
    {
        "zeros",
        "ones",
        "empty",
        "full",
        "arange",
        "range",
        "linspace",
        "logspace",
        "eye",
        "tensor",
        "as_tensor",
        "asarray",
        "zeros_like",
        "ones_like",
        "empty_like",
        "full_like",
        "new_zeros",
        "new_ones",
        "new_empty",
        "new_full",
        "new_tensor",
        "tril_indices",
        "triu_indices",
        "scalar_tensor",
        "empty_strided",
        "sparse_coo_tensor",
        "hann_window",
        "hamming_window",
        "blackman_window",
        "bartlett_window",
        "kaiser_window",
        "fftfreq",
        "rfftfreq",
        "frombuffer",
    }
)


def creates_on_default_device(file: File, call: cst.Call) -> bool:
    """Return whether a call is one of torch's factories that names no device, and whose result is not moved at once.

    >>> file = File("m.py", b"import torch\\na, b = torch.ones(3), torch.ones(3).cuda()\\n")
    >>> [creates_on_default_device(file, each) for each in file.within(file.module) if isinstance(each, cst.Call)]
    [True, False, False]
    """
    name, moved = last_name(call.func), method_call_on(file, call)
    is_moved = moved is not None and (is_move(moved) or last_name(moved.func) == "numpy")
    is_torch = not name.endswith("_like") and file.qualified_name(call.func).startswith("torch.")
    return is_torch and not is_moved and _names_no_device(call)


def add_device_argument(diagnosis: Diagnosis, site: FixSite, source: Sources) -> Iterator[Change]:
    """Yield changes that add `device=` to the factory call at a creation, one for each device expression.

    Yields nothing if the call is not a factory that takes a device, or if its result is moved to one that is named.
    """
    file = source.file(site.place)
    call = file.call_at(site.place, tuple(FACTORIES)) if file else None
    if file is None or call is None:
        return
    if applied_move(file, call, failed_expression(file, diagnosis.failure)) is not None:
        return
    yield from _move_earlier(file, call)
    given = argument(call, "device")
    named = file.code(given.value) if given is not None else ""
    for anchor in device_expressions(diagnosis, site, file):
        if named and is_another_choice(file, call, named, anchor):
            continue
        beside, written = _sibling_factories(file, call), _written_factories(file, call)
        for group in dict.fromkeys([(call, *beside, *written), (call, *beside), (call,)]):
            module = file.replace({each: add_keyword(each, "device", anchor) for each in group})
            where = "beside it" if len(group) <= 1 + len(beside) else "that it is filled from"
            both = f" and {len(group) - 1} {where}" if len(group) > 1 else ""
            found = change(file, module, f"Give `{file.code(call.func)}`{both} the device `{anchor}`")
            if found:
                yield found
        yield from _add_to_listed(file, call, anchor)


def _add_to_listed(file: File, call: cst.Call, anchor: str) -> Iterator[Change]:
    """Yield the change that creates all elements of a list on a device: what is drawn is moved there."""
    listed = created_for_list(file, call)
    edits: dict[cst.CSTNode, cst.CSTNode] = {
        each: add_keyword(each, "device", anchor) for each in (call, *listed) if _lacks_device(file, each)
    }
    edits |= {each: move_to(each, anchor) for each in listed if is_drawn(file, each)}
    if len(edits) > 1:
        title = f"Give `{file.code(call.func)}` and {len(edits) - 1} in the same list the device `{anchor}`"
        yield from filter(None, [change(file, file.replace(edits), title)])


def _move_earlier(file: File, call: cst.Call) -> Iterator[Change]:
    """Yield the change that gives a factory the device to which its expression moves what is computed of it."""
    late = applied_move(file, call)
    given = argument(late, "device", 0) if late is not None else None
    if late is None or given is None or len(late.args) != 1 or not isinstance(late.func, cst.Attribute):
        return
    device, value = file.code(given.value), late.func.value
    if isinstance(given.value, cst.Name | cst.Attribute):
        made = value.deep_replace(call, add_keyword(call, "device", device))
        title = f"Create `{file.code(call.func)}` on `{device}`, to which it is moved too late"
        yield from filter(None, [change(file, file.replace({late: made}), title)])


def device_parameter(site: FixSite, device: str, source: Sources) -> str:
    """Return the parameter that passed a device to the function at a site; "" if there is none.

    >>> place = failure.at
    >>> device_parameter(FixSite("creation", place, scope_at(failure, place)), "cuda:0", source)
    ''
    """
    file = source.file(site.place)
    function = definition(file, site.place.function) if file is not None else None
    names = parameters(function) if isinstance(function, cst.FunctionDef) else []
    return next((each.expression for each in _naming(site.scope, device) if each.expression in names), "")


def has_device_name(failure: Failure, place: SourceLocation, device: str) -> bool:
    """Return whether a variable in scope at a location names a device.

    >>> has_device_name(failure, failure.at, "cuda:0")
    False
    """
    return any(_naming(scope_at(failure, place), device))


def _naming(scope: Iterable[ScopeVariable], device: str) -> Iterator[ScopeVariable]:
    return (each for each in scope if each.kind in DEVICE_KINDS and means(each, device))


def _sibling_factories(file: File, call: cst.Call) -> list[cst.Call]:
    """Return the factories without a device beside a call: other arguments, the object whose method it is passed to.

    Such as those of `torch.meshgrid(torch.arange(2), torch.arange(3))`, or of `torch.zeros(3).add_(torch.ones(3))`, and
    the other one of `torch.zeros(n) if n else torch.zeros(1)`.
    """
    if (either := conditional_of_alike(file, call)) is not None:
        other = either.orelse if either.body is call else either.body
        return [other] if _lacks_device(file, other) else []  # type: ignore[list-item]
    outer: cst.CSTNode | None = file.parent(call)
    while isinstance(outer, cst.Element | cst.List | cst.Tuple | cst.Arg | cst.Attribute):
        outer = file.parent(outer)
    if not isinstance(outer, cst.Call) or outer.func is call:
        return []
    receiver = [outer.func.value] if isinstance(outer.func, cst.Attribute) else []
    given = [*receiver, *(each.value for each in outer.args)]
    lists = [each for each in given if isinstance(each, cst.List | cst.Tuple)]
    every = [*given, *(part.value for each in lists for part in each.elements)]
    return [each for each in every if each is not call and _lacks_device(file, each)]  # type: ignore[misc]


def _written_factories(file: File, call: cst.Call) -> list[cst.Call]:
    """Return the factories without a device from which a function computes what it writes into a tensor.

    Those of `position` and `scale`, if `table[:, 0::2] = torch.sin(position * scale)` and nothing else reads them: left
    on the host, what they lead to would be copied in each call.
    """
    function, assign = file.function_of(call), file.parent(call)
    if function is None or not isinstance(assign, cst.Assign) or not isinstance(assign.targets[0].target, cst.Name):
        return []
    name = assign.targets[0].target.value
    found = what_is_written(file, function, name, partial(_lacks_device, file))
    return [each for each in found if each is not call]  # type: ignore[misc]


def _lacks_device(file: File, node: cst.CSTNode) -> bool:
    """Return whether a node is a call of a factory that is given no device, and whose result is not moved."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    return _names_no_device(node) and applied_move(file, node) is None


def _names_no_device(call: cst.Call) -> bool:
    """Return whether a call is one of a factory that is given no device."""
    return last_name(call.func) in FACTORIES and argument(call, "device") is None
