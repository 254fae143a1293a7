"""Copy a tensor to the host where it is passed to code that only works there."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devfix.model import Diagnosis
from devfix.sdk.changes import Change, change
from devfix.sdk.fixes.call_result import occurrences
from devfix.sdk.trace.operands import blamed_operand, names_in
from devfix.source import File, Sources, normalize
from devfix.source.edits.expressions import expression, move_to
from devfix.source.queries.bound_names import is_bound
from devfix.source.queries.optional import is_told_apart, may_be_no_tensor

HOST = '"cpu"'


def host_copies(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Yield changes that copy the blamed tensor to the host where the deepest owned frame passes it on.

    Of a list of tensors, each is copied; what may be no tensor is asked. A tensor without a name is copied after the
    expression that creates it.

    >>> [each.title for each in host_copies(diagnosis, source)]
    ['Copy `positions` to the host where it is passed on']
    """
    failure = diagnosis.failure
    place = failure.at
    if place is None or not failure.operands:
        return
    file = source.file(place)
    root = file.root_at(place) if file is not None else None
    if file is None or root is None:
        return
    frame = max(index for index, each in enumerate(failure.frames) if each.place == place)
    held = names_in(blamed_operand(diagnosis), frame)
    nodes = [node for each in held if each.relation == "same" for node in occurrences(file, root, each.expression)[:1]]
    given = [each.value for each in root.args] if isinstance(root, cst.Call) else []
    lists = [
        value
        for value in given
        if any(normalize(each.expression).startswith(f"{normalize(file.code(value))}[") for each in held)
    ]
    around = [value for value in given if _is_computed_in(diagnosis, file, value, {each.expression for each in held})]
    # A tensor without a name here is the result of one of the calls, not another argument.
    called = [value for value in given if isinstance(_element(value), cst.Call)]
    for node in dict.fromkeys((*nodes, *lists, *around)) or called:
        copied = _each(file, node) if node in lists else _copy(file, _element(node))
        module = file.replace({_element(node): copied})
        text = " ".join(file.code(node).split())
        found = change(file, module, f"Copy `{text}` to the host where it is passed on")
        if found:
            yield found


def _element(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return the expression of the tensor: the element of a list that is built in place."""
    return node.elt if isinstance(node, cst.ListComp | cst.GeneratorExp) else node


def _each(file: File, node: cst.BaseExpression) -> cst.BaseExpression:
    return expression(f"[each.cpu() for each in {file.code(node)}]")


def _copy(file: File, node: cst.BaseExpression) -> cst.BaseExpression:
    """Return the copy of a tensor; of a parameter that may also be a list or an array, only where it is a tensor."""
    name = node.value if isinstance(node, cst.Name) else ""
    may_be_other = bool(name) and (may_be_no_tensor(file, node, name) or is_told_apart(file, node, name))
    if may_be_other and isinstance(file.parent(node), cst.Arg) and is_bound(file, node, "torch"):
        return expression(f"{name}.cpu() if torch.is_tensor({name}) else {name}")
    return move_to(node, HOST)


def _is_computed_in(diagnosis: Diagnosis, file: File, value: cst.BaseExpression, names: set[str]) -> bool:
    """Return whether an argument is an expression that computes the tensor, or takes it from a variable."""
    below = list(file.within(value))
    places = [
        place for event in blamed_operand(diagnosis).history[-1:] for place in event.places if place.path == file.path
    ]
    made = [node for place in places for node in file.expressions_at(place)]
    named = isinstance(value, cst.Subscript | cst.Attribute) and any(file.find(value, name) for name in names)
    return named or any(node in below for node in made)
