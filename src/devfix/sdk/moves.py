"""Candidate edits at a spot: give a factory its device, or move the tensor on its way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from devfix.model import Diagnosis, Failure, Operand
from devfix.sdk.anchors import anchors, is_bound, is_local
from devfix.sdk.changes import Change, change
from devfix.sdk.edits import moved
from devfix.sdk.evidence import blamed
from devfix.sdk.loops import outside_loops
from devfix.sdk.optional import may_be_no_tensor
from devfix.sdk.reading import assignments, parameters
from devfix.sdk.spots import Spot, spots
from devfix.sdk.statements import inserted_before
from devfix.sdk.ways import frame_of
from devfix.source import File, Sources, last_name

BRANCHES = (cst.If, cst.For, cst.While, cst.Try, cst.Match)


def result_moved(diagnosis: Diagnosis, spot: Spot, source: Sources) -> Iterator[Change]:
    """Yield the whole call at a birth, returned or derived spot with `.to(anchor)`, one change for each anchor."""
    file = source.file(spot.place)
    if file is None:
        return
    calls = [node for node in file.expressions_at(spot.place) if isinstance(node, cst.Call | cst.Subscript)]
    if not calls or (spot.place.column is None and len(calls) > 1) or _is_aside(diagnosis, spot, source):
        return
    for anchor in anchors(diagnosis, spot, file):
        found = _replaced(file, calls[0], anchor)
        if found:
            yield found


def _is_aside(diagnosis: Diagnosis, spot: Spot, source: Sources) -> bool:
    """Whether a derivation lies in a branch that need not run, while what uses its result below can be moved itself."""
    running = frame_of(diagnosis.failure, spot.place) if spot.kind == "derived" else None
    file = source.file(spot.place) if running is not None else None
    if file is None or running is None:
        return False
    node, runs = file.root_at(spot.place), file.root_at(diagnosis.failure.frames[running].place)
    if node is None or runs is None:
        return False
    around = set(map(id, file.ancestors(runs)))
    if not any(isinstance(each, BRANCHES) and id(each) not in around for each in file.ancestors(node)):
        return False
    uses = [each for each in spots(diagnosis) if each.frame == running]
    return any(True for each in uses for _ in argument_moved(diagnosis, each, source))


def argument_moved(diagnosis: Diagnosis, spot: Spot, source: Sources) -> Iterator[Change]:
    """Yield the named tensor moved where a handover or use spot passes it on.

    A name that is used again below is moved once, by a statement in front (outside of the loops in which it does not
    change); one that is not is moved where it stands.
    """
    file = source.file(spot.place)
    root = file.root_at(spot.place) if file else None
    if file is None or root is None:
        return
    written = is_written_to(diagnosis.failure, blamed(diagnosis))
    for text in spot.expressions:
        nodes = occurrences(file, root, text)
        if not nodes or (written and _is_parameter(file, nodes[0], text)) or may_be_no_tensor(file, nodes[0], text):
            continue
        for anchor in anchors(diagnosis, spot, file):
            if anchor.startswith((f"{text}.", f"next({text}.")):
                continue
            rebound = _rebound(file, nodes[0], text, anchor)
            inline = None if written else _replaced(file, nodes[0], anchor, _beside(file, nodes[0], text))
            again = _used_below(file, nodes[0], text) or _is_hoisted(file, nodes[0], text, anchor)
            yield from (each for each in ((rebound, inline) if again else (inline, rebound)) if each)


def assigned_moved(diagnosis: Diagnosis, spot: Spot, source: Sources) -> Iterator[Change]:
    """Yield what a name at a spot was given moved, where its function gives it a value once, and outside of loops.

    >>> [each.title for each in assigned_moved(diagnosis, spots(diagnosis)[-1], source)][0]
    'Move `torch.arange(x.shape[1])` to `x.device`'
    """
    file = source.file(spot.place)
    root = file.root_at(spot.place) if file else None
    function = (file.function_of(root) or file.module) if file is not None and root is not None else None
    if file is None or root is None or function is None:
        return
    for text in spot.expressions:
        given = assignments(file, text, function) if text.isidentifier() and occurrences(file, root, text) else []
        if len(given) != 1 or given[0].value is None or file.loops_around(given[0]):
            continue
        value = given[0].value
        for anchor in anchors(diagnosis, spot, file):
            if is_bound(file, value, anchor) and not anchor.startswith(f"{text}."):
                found = _replaced(file, value, anchor)
                if found:
                    yield found


def module_moved_before(diagnosis: Diagnosis, spot: Spot, source: Sources, text: str) -> Iterator[Change]:
    """Yield `text.to(anchor)` for a module, as a statement in front of the one at a spot, outside of all loops.

    >>> [each.title for each in module_moved_before(diagnosis, spots(diagnosis)[-1], source, "self")][0]
    'Move the module `self` to `x.device`'
    """
    file = source.file(spot.place)
    root = file.root_at(spot.place) if file else None
    if file is None or root is None:
        return
    for anchor in anchors(diagnosis, spot, file):
        statement = outside_loops(file, root, text, anchor)
        if statement is None or anchor.startswith((f"{text}.", f"next({text}.")):
            continue
        move = f"{text}.cpu()" if anchor == '"cpu"' else f"{text}.to({anchor})"
        found = change(file, inserted_before(file, statement, [move]), f"Move the module `{text}` to `{anchor}`")
        if found:
            yield found


def is_written_to(failure: Failure, operand: Operand) -> bool:
    """Whether the failing operator writes into the operand, so that a copy of it would take the result away.

    >>> is_written_to(failure, failure.operands[0])
    False
    """
    name = failure.op.rpartition("::")[2].rpartition(".")[2]
    in_place = name.endswith("_") and not name.endswith("__")
    return operand.argument == "out" or (in_place and operand.argument in ("self", "input"))


def _is_parameter(file: File, node: cst.BaseExpression, text: str) -> bool:
    function = file.function_of(node)
    return function is not None and text in parameters(function)


def occurrences(file: File, root: cst.CSTNode, text: str) -> list[cst.BaseExpression]:
    """Where an expression is read within a node, else within the rest of its statement line."""
    statement = file.statement_of(root)
    wider = statement if isinstance(statement, cst.SimpleStatementLine) else None
    for scope in (root, wider):
        found = [node for node in file.find(scope, text) if _is_read(file, node)] if scope is not None else []
        if found:
            return found
    return []


def _is_read(file: File, node: cst.BaseExpression) -> bool:
    parent = file.parent(node)
    if isinstance(parent, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For):
        return node is not getattr(parent, "target", None)
    # `x.device` and `f(x)` where x is the function are not readings of the tensor that a move could stand in.
    return not (isinstance(parent, cst.Attribute) and parent.attr is node)


def _beside(file: File, node: cst.BaseExpression, text: str) -> list[cst.BaseExpression]:
    """The other places in a node's statement that read an expression which no statement in front can bind anew."""
    statement = file.statement_of(node)
    if text.isidentifier() or not isinstance(statement, cst.SimpleStatementLine):
        return []
    return [each for each in occurrences(file, statement, text) if each is not node]


def _replaced(
    file: File, node: cst.BaseExpression, anchor: str, others: Sequence[cst.BaseExpression] = ()
) -> Change | None:
    if isinstance(node, cst.Call) and last_name(node.func) == "Parameter" and node.args:
        node = node.args[0].value  # what a move makes of a Parameter is none, and no optimizer's business
    text = " ".join(file.code(node).split())
    edits: dict[cst.CSTNode, cst.CSTNode] = {each: moved(each, anchor) for each in (node, *others)}
    return change(file, file.replaced(edits), f"Move `{text}` to `{anchor}`")


def _rebound(file: File, node: cst.BaseExpression, text: str, anchor: str) -> Change | None:
    function, statement = file.function_of(node), outside_loops(file, node, text, anchor)
    if statement is None or function is not file.function_of(statement):
        return None
    if not text.isidentifier():
        return None
    # To bind a module's name in a function would make a new, unbound variable of it.
    if function is not None and not is_local(function, text):
        return None
    move = f"{text}.cpu()" if anchor == '"cpu"' else f"{text}.to({anchor})"
    module = inserted_before(file, statement, [f"{text} = {move}"])
    return change(file, module, f"Move `{text}` to `{anchor}` before it is used")


def _is_hoisted(file: File, node: cst.BaseExpression, text: str, anchor: str) -> bool:
    """Whether a move in front can stand outside of a loop in which one where it stands would copy each time."""
    return outside_loops(file, node, text, anchor) is not file.statement_of(node)


def _used_below(file: File, node: cst.BaseExpression, text: str) -> bool:
    """Whether a name is read again in its function, in another statement further down, or in the same one."""
    scope = file.function_of(node) or file.module
    line = file.line_of(node)
    reads = [each for each in file.find(scope, text) if each is not node and file.line_of(each) >= line]
    return any(_is_read(file, each) for each in reads)


def replaced_callee(call: cst.Call, name: str) -> cst.Call:
    """The call with the last part of its name changed: `torch.zeros` to `torch.ones`."""
    if isinstance(call.func, cst.Attribute):
        return call.with_changes(func=call.func.with_changes(attr=cst.Name(name)))
    return call.with_changes(func=cst.Name(name)) if last_name(call.func) else call
