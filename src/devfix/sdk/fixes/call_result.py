"""Moves where a tensor comes to be: behind the call that makes it, or where a name is given to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from devfix.model import Diagnosis
from devfix.sdk.changes import Change, change
from devfix.sdk.fixes.device_expressions import device_expressions, is_bound
from devfix.sdk.trace.sites import FixSite
from devfix.source import File, Sources, last_name, normalised
from devfix.source.edits.expressions import move_to
from devfix.source.queries.reading import assignments, is_read

LONG = 72  # a title is the first line of a commit's message: a longer call is told by what is called
SAME_EVERYWHERE = {"len", "isinstance", "type", "shape", "size", "dim", "ndim", "numel", "stride", "dtype"}


def move_assigned(diagnosis: Diagnosis, spot: FixSite, source: Sources) -> Iterator[Change]:
    """Yield what a name or attribute at a spot was given moved, where its function gives it a value once, above it.

    What a loop gives it is left alone.

    >>> [each.title for each in move_assigned(diagnosis, fix_sites(diagnosis)[-1], source)][0]
    'Move `torch.arange(x.shape[1])` to `x.device`'
    """
    file = source.file(spot.place)
    root = file.root_at(spot.place) if file is not None else None
    if file is None or root is None:
        return
    function = file.function_of(root) or file.module
    for text in spot.expressions:
        given = assignments(file, text, function) if occurrences(file, root, text) else []
        value = given[0].value if len(given) == 1 else None
        if value is None or file.loops_around(value) or file.line_of(value) >= file.line_of(root):
            continue
        for anchor in device_expressions(diagnosis, spot, file):
            if is_bound(file, value, anchor) and not anchor.startswith(f"{text}."):
                found = move_at(file, value, anchor)
                if found:
                    yield found


def occurrences(file: File, root: cst.CSTNode, text: str) -> list[cst.BaseExpression]:
    """Where an expression is read within a node, else within the rest of its statement line, outermost first.

    Of `f(g(x), x)` it is the last `x` that a failing `f` was given: had `g` failed, the node would be its call.
    """
    statement = file.statement_of(root)
    scopes = [root, statement] if isinstance(statement, cst.SimpleStatementLine) else [root]
    for scope in scopes:
        found = [node for node in file.find(scope, text) if is_read(file, node)]
        if found:
            return sorted(found, key=lambda node: len([*file.ancestors(node)]))
    return _by_key(file, scopes[-1], text)


def _by_key(file: File, scope: cst.CSTNode, text: str) -> list[cst.BaseExpression]:
    """Where an element is read by a name for its key: `self.shadow[name]` for `self.shadow["weight"]`."""
    if not text.endswith("]"):
        return []
    whole = normalised(text.rpartition("[")[0])
    return [
        node
        for node in file.within(scope)
        if isinstance(node, cst.Subscript)
        and normalised(file.code(node.value)) == whole
        and len(node.slice) == 1
        and isinstance(node.slice[0].slice, cst.Index)
        and isinstance(node.slice[0].slice.value, cst.Name)
        and is_read(file, node)
    ]


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


def move_at(
    file: File, node: cst.BaseExpression, anchor: str, others: Sequence[cst.BaseExpression] = ()
) -> Change | None:
    """The expression moved, and with it the others; what `nn.Parameter(…)` is given, and not the parameter."""
    if isinstance(node, cst.Call) and last_name(node.func) == "Parameter" and node.args:
        node = node.args[0].value  # what a move makes of a Parameter is none, and no optimizer's business
    text = " ".join(file.code(node).split())
    if len(text) > LONG and isinstance(node, cst.Call):
        text = f"{' '.join(file.code(node.func).split())}(…)"
    edits: dict[cst.CSTNode, cst.CSTNode] = {each: move_to(each, anchor) for each in (node, *others)}
    return change(file, file.replaced(edits), f"Move `{text}` to `{anchor}`")
