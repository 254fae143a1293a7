"""Find where statements can be inserted outside of loops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

import libcst as cst

from devfix.source import File


def outside_loops(file: File, node: cst.CSTNode, *expressions: str) -> cst.CSTNode | None:
    """Return the outermost enclosing statement before which the expressions still have the same value (hoisting point).

    It is outside of the loops of the same function that bind none of the expressions' first names; if the innermost
    loop binds one, it is the node's own statement. Code inserted before it runs once. The first expression is not
    hoisted out of a branch without which it may not exist: one that tests it, or any branch for an attribute.

    >>> file = File("m.py", b"for x in data:\\n    y = x + mask\\n")
    >>> node = file.find(file.module, "x + mask")[0]
    >>> type(outside_loops(file, node, "mask")).__name__, type(outside_loops(file, node, "mask", "x")).__name__
    ('For', 'SimpleStatementLine')
    >>> file = File("m.py", b"for x in data:\\n    if mask is not None:\\n        y = x + mask\\n")
    >>> type(outside_loops(file, file.find(file.module, "x + mask")[0], "mask")).__name__
    'SimpleStatementLine'
    """
    names = {match[0] for text in expressions if (match := re.search(r"[^\W\d]\w*", text))}
    place: cst.CSTNode | None = file.statement_of(node)
    for loop in file.loops_around(node):
        if names & _changed_names(file, loop) or _is_guarded(file, node, loop, expressions[0] if expressions else ""):
            break
        place = loop
    return place


def _is_guarded(file: File, node: cst.CSTNode, loop: cst.CSTNode, text: str) -> bool:
    """Return whether a branch between a node and a loop ensures that an expression exists: `if x is not None`."""
    word = re.compile(rf"\b{re.escape(text)}\b")
    child = node
    for each in takewhile(lambda around: around is not loop, file.ancestors(node)):
        if isinstance(each, cst.If | cst.IfExp) and child is not each.test:
            if "." in text or word.search(file.code(each.test)):
                return True
        elif isinstance(each, cst.Try | cst.Match) and "." in text:
            return True
        child = each
    return False


def assigned_names(file: File, root: cst.CSTNode) -> set[str]:
    """Return the names assigned anywhere below a node; `x.y = …` and `x += …` do not bind `x`."""
    return {each.value for each in _assigned_targets(file, root) if isinstance(each, cst.Name)}


def _changed_names(file: File, root: cst.CSTNode) -> set[str]:
    """Return the names bound or changed below a node: the `x` of `x = …`, `x.y = …`, `x[0] += …` and `del x`."""
    others = [each.target for each in file.within(root) if isinstance(each, cst.AugAssign | cst.Del)]
    found = set()
    for target in (*_assigned_targets(file, root), *(part for each in others for part in _parts(each))):
        while isinstance(target, cst.Attribute | cst.Subscript):
            target = target.value
        if isinstance(target, cst.Name):
            found.add(target.value)
    return found


def _assigned_targets(file: File, root: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the assigned targets: names, attributes, elements."""
    for node in file.within(root):
        if isinstance(node, cst.AsName):
            yield from _parts(node.name)
        elif isinstance(node, cst.AssignTarget | cst.For | cst.NamedExpr):
            yield from _parts(node.target)
        elif isinstance(node, cst.AnnAssign) and node.value is not None:
            yield node.target


def _parts(target: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the parts of a target such as `a, (b, *c)`."""
    if isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _parts(element.value)
    else:
        yield target
