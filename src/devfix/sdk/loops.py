"""Where a statement runs once, and not once a turn."""

from __future__ import annotations

import re
from itertools import takewhile

import libcst as cst

from devfix.source import File


def outside_loops(file: File, node: cst.CSTNode, *expressions: str) -> cst.CSTNode | None:
    """The outermost statement around a node in front of which expressions have the value that they have at the node.

    Those are the for and while statements of the same function that bind none of the expressions' first names; where
    the innermost binds one, it is the node's own statement. An edit in front of it runs once, not once a turn. The
    first expression is not taken out of a branch by which it may not be there: one that asks for it, or any for an
    attribute.

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
        if names & _bound(loop) or _is_guarded(file, node, loop, expressions[0] if expressions else ""):
            break
        place = loop
    return place


def _is_guarded(file: File, node: cst.CSTNode, loop: cst.CSTNode, text: str) -> bool:
    """Whether a branch between a node and a loop around it settles that an expression is there: `if x is not None`."""
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


def _bound(root: cst.CSTNode) -> set[str]:
    """The names that a statement binds or changes, anywhere below it: the `x` of `x = …`, `x.y = …` and `x[0] += …`."""
    found: set[str] = set()

    class Collect(cst.CSTVisitor):
        def _take(self, target: cst.CSTNode) -> None:
            if isinstance(target, cst.Name):
                found.add(target.value)
            elif isinstance(target, cst.Attribute | cst.Subscript):
                self._take(target.value)
            elif isinstance(target, cst.Tuple | cst.List):
                for element in target.elements:
                    self._take(element.value)

        def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
            self._take(node.target)

        def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
            self._take(node.target)

        def visit_AugAssign(self, node: cst.AugAssign) -> None:
            self._take(node.target)

        def visit_For(self, node: cst.For) -> None:
            self._take(node.target)

        def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
            self._take(node.target)

        def visit_AsName(self, node: cst.AsName) -> None:
            self._take(node.name)

        def visit_Del(self, node: cst.Del) -> None:
            self._take(node.target)

    root.visit(Collect())
    return found
