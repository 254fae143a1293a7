"""Codemods that add, replace and remove whole statements. Each gives a new module, or None where it does not apply."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from devfix.source import File

Block = cst.IndentedBlock | cst.Module
Line = cst.SimpleStatementLine | cst.BaseCompoundStatement


def inserted_before(file: File, statement: cst.CSTNode, lines: Sequence[str]) -> cst.Module | None:
    """The module with statements before one; None where it stands in a suite on one line (`if x: y`).

    Comments and blank lines above the statement stay above it, since they mostly speak of what follows.

    >>> file = File("m.py", b"def f(x):\\n    # add\\n    return x + y\\n")
    >>> print(inserted_before(file, file.statement_of(file.find(file.module, "x + y")[0]), ["x = x.cuda()"]).code)
    def f(x):
        # add
        x = x.cuda()
        return x + y
    <BLANKLINE>
    """
    found = _block_of(file, statement)
    if found is None:
        return None
    parent, index = found
    new, old = _parsed(file, lines), parent.body[index]
    if isinstance(old, Line) and hasattr(old, "leading_lines"):
        new[0] = new[0].with_changes(leading_lines=old.leading_lines)
        old = old.with_changes(leading_lines=())
    return _with_body(file, parent, [*parent.body[:index], *new, old, *parent.body[index + 1 :]])


def inserted_after(file: File, statement: cst.CSTNode, lines: Sequence[str]) -> cst.Module | None:
    """The module with statements after one; None where it stands in a suite on one line.

    >>> file = File("m.py", b"model = Net()\\nrun(model)\\n")
    >>> print(inserted_after(file, file.module.body[0], ["model.to(device)"]).code)
    model = Net()
    model.to(device)
    run(model)
    <BLANKLINE>
    """
    found = _block_of(file, statement)
    if found is None:
        return None
    parent, index = found
    return _with_body(file, parent, [*parent.body[: index + 1], *_parsed(file, lines), *parent.body[index + 1 :]])


def replaced_by(file: File, statement: cst.CSTNode, lines: Sequence[str]) -> cst.Module | None:
    """The module with statements in place of one, which leaves its comments to the first.

    None where it stands in a suite on one line.

    >>> file = File("m.py", b"# set up\\nself.mask = m  # causal\\n")
    >>> print(replaced_by(file, file.module.body[0], ["self.register_buffer('mask', m)"]).code)
    # set up
    self.register_buffer('mask', m)  # causal
    <BLANKLINE>
    """
    found = _block_of(file, statement)
    if found is None or not lines:
        return None
    parent, index = found
    new, old = _parsed(file, lines), parent.body[index]
    leading = old.leading_lines if hasattr(old, "leading_lines") else ()
    new[0] = new[0].with_changes(leading_lines=leading)
    if isinstance(old, cst.SimpleStatementLine) and isinstance(new[-1], cst.SimpleStatementLine):
        new[-1] = new[-1].with_changes(trailing_whitespace=old.trailing_whitespace)
    return _with_body(file, parent, [*parent.body[:index], *new, *parent.body[index + 1 :]])


def removed(file: File, statement: cst.CSTNode) -> cst.Module | None:
    """The module without a statement and the comments directly above it; `pass` where a block would be empty.

    None where it stands in a suite on one line.

    >>> file = File("m.py", b"if cuda:\\n    model.cuda()\\n")
    >>> print(removed(file, file.statement_of(file.find(file.module, "model.cuda()")[0])).code)
    if cuda:
        pass
    <BLANKLINE>
    """
    found = _block_of(file, statement)
    if found is None:
        return None
    parent, index = found
    body = [*parent.body[:index], *parent.body[index + 1 :]]
    return _with_body(file, parent, body or _parsed(file, ["pass"]))


def outside_loops(file: File, node: cst.CSTNode, *expressions: str) -> cst.CSTNode | None:
    """The outermost statement around a node in front of which expressions have the value that they have at the node.

    Those are the for and while statements of the same function that bind none of the expressions' first names; where
    the innermost binds one, it is the node's own statement. An edit in front of it runs once, not once a turn.

    >>> file = File("m.py", b"for x in data:\\n    y = x + mask\\n")
    >>> node = file.find(file.module, "x + mask")[0]
    >>> type(outside_loops(file, node, "mask")).__name__, type(outside_loops(file, node, "mask", "x")).__name__
    ('For', 'SimpleStatementLine')
    """
    names = {match[0] for text in expressions if (match := re.search(r"[^\W\d]\w*", text))}
    place: cst.CSTNode | None = file.statement_of(node)
    for loop in file.loops_around(node):
        if names & _bound(loop):
            break
        place = loop
    return place


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


def _block_of(file: File, statement: cst.CSTNode) -> tuple[Block, int] | None:
    parent = file.parent(statement)
    if not isinstance(parent, Block):
        return None
    return parent, next(index for index, each in enumerate(parent.body) if each is statement)


def _parsed(file: File, lines: Sequence[str]) -> list[Line]:
    return [cst.parse_statement(line, config=file.module.config_for_parsing) for line in lines]


def _with_body(file: File, parent: Block, body: Sequence[cst.BaseStatement]) -> cst.Module:
    if isinstance(parent, cst.Module):
        return file.module.with_changes(body=body)
    return file.replaced({parent: parent.with_changes(body=body)})
