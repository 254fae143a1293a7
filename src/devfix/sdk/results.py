"""Moves where a tensor comes to be: behind the call that makes it, or where a name is given to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from devfix.model import Diagnosis
from devfix.sdk.anchors import anchors, is_bound
from devfix.sdk.changes import Change, change
from devfix.sdk.edits import moved
from devfix.sdk.reading import assignments
from devfix.sdk.spots import Spot
from devfix.source import File, Sources, last_name

LONG = 72  # a title is the first line of a commit's message: a longer call is told by what is called
SAME_EVERYWHERE = {"len", "isinstance", "type", "shape", "size", "dim", "ndim", "numel", "stride", "dtype"}


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
                found = moved_at(file, value, anchor)
                if found:
                    yield found


def occurrences(file: File, root: cst.CSTNode, text: str) -> list[cst.BaseExpression]:
    """Where an expression is read within a node, else within the rest of its statement line, outermost first.

    Of `f(g(x), x)` it is the last `x` that a failing `f` was given: had `g` failed, the node would be its call.
    """
    statement = file.statement_of(root)
    wider = statement if isinstance(statement, cst.SimpleStatementLine) else None
    for scope in (root, wider):
        found = [node for node in file.find(scope, text) if is_read(file, node)] if scope is not None else []
        if found:
            return sorted(found, key=lambda node: sum(1 for _ in file.ancestors(node)))
    return _by_key(file, wider or root, text)


def _by_key(file: File, scope: cst.CSTNode, text: str) -> list[cst.BaseExpression]:
    """Where an element is read by a name for its key: `self.shadow[name]` for `self.shadow["weight"]`."""
    whole = text.rpartition("[")[0] if text.endswith("]") else ""
    return [
        node
        for node in (file.within(scope) if whole else ())
        if isinstance(node, cst.Subscript)
        and file.code(node.value) == whole
        and len(node.slice) == 1
        and isinstance(node.slice[0].slice, cst.Index)
        and isinstance(node.slice[0].slice.value, cst.Name)
        and is_read(file, node)
    ]


def is_read(file: File, node: cst.BaseExpression) -> bool:
    """Whether an expression stands where its value is used, and not where it, or a part of it, is given one."""
    parent = file.parent(node)
    if isinstance(parent, cst.Subscript) and parent.value is node:
        return is_read(file, parent)
    if isinstance(parent, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For):
        return node is not getattr(parent, "target", None)
    # `x.device` and `f(x)` where x is the function are not readings of the tensor that a move could stand in.
    return not (isinstance(parent, cst.Attribute) and parent.attr is node)


def is_on_device(file: File, node: cst.BaseExpression) -> bool:
    """Whether a reading is of the values: not of the length, the type or the shape, which are the same everywhere."""
    parent = file.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.attr.value not in SAME_EVERYWHERE
    if isinstance(parent, cst.Arg):
        call = file.parent(parent)
        return not (isinstance(call, cst.Call) and last_name(call.func) in SAME_EVERYWHERE)
    return not isinstance(parent, cst.Comparison) or not any(
        isinstance(each.operator, cst.Is | cst.IsNot) for each in parent.comparisons
    )


def moved_at(
    file: File, node: cst.BaseExpression, anchor: str, others: Sequence[cst.BaseExpression] = ()
) -> Change | None:
    """The expression moved, and with it the others; what `nn.Parameter(…)` is given, and not the parameter."""
    if isinstance(node, cst.Call) and last_name(node.func) == "Parameter" and node.args:
        node = node.args[0].value  # what a move makes of a Parameter is none, and no optimizer's business
    text = " ".join(file.code(node).split())
    if len(text) > LONG and isinstance(node, cst.Call):
        text = f"{' '.join(file.code(node.func).split())}(…)"
    edits: dict[cst.CSTNode, cst.CSTNode] = {each: moved(each, anchor) for each in (node, *others)}
    return change(file, file.replaced(edits), f"Move `{text}` to `{anchor}`")
