"""Add, replace and remove statements. Each function returns a new module, or None if it does not apply."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devfix.source import File
from devfix.source.queries.loops import outside_loops as outside_loops

Block = cst.IndentedBlock | cst.Module
Line = cst.SimpleStatementLine | cst.BaseCompoundStatement


def insert_before(file: File, statement: cst.CSTNode, lines: Sequence[str]) -> cst.Module | None:
    """Return the module with statements before another; None inside a suite on one line (`if x: y`).

    Comments and blank lines above the statement stay above the new ones, since they mostly describe what follows; a
    comment directly above a loop or a branch stays with it.

    >>> file = File("m.py", b"def f(x):\\n    # add\\n    return x + y\\n")
    >>> print(insert_before(file, file.statement_of(file.find(file.module, "x + y")[0]), ["x = x.cuda()"]).code)
    def f(x):
        # add
        x = x.cuda()
        return x + y
    <BLANKLINE>
    """
    found = _block_of(file, statement)
    if found is None:
        return None
    parent, index, old = found
    new = _parse_lines(lines)
    above, own = _split_leading_lines(old)
    new[0] = new[0].with_changes(leading_lines=above)
    old = old.with_changes(leading_lines=own)
    return _with_body(file, parent, [*parent.body[:index], *new, old, *parent.body[index + 1 :]])


def insert_after(file: File, statement: cst.CSTNode, lines: Sequence[str]) -> cst.Module | None:
    """Return the module with statements after another; None inside a suite on one line.

    >>> file = File("m.py", b"model = Net()\\nrun(model)\\n")
    >>> print(insert_after(file, file.module.body[0], ["model.to(device)"]).code)
    model = Net()
    model.to(device)
    run(model)
    <BLANKLINE>
    """
    found = _block_of(file, statement)
    if found is None:
        return None
    parent, index, _ = found
    return _with_body(file, parent, [*parent.body[: index + 1], *_parse_lines(lines), *parent.body[index + 1 :]])


def replace_statement(file: File, statement: cst.CSTNode, lines: Sequence[str]) -> cst.Module | None:
    """Return the module with statements in place of another, whose comments the first one gets.

    Returns None inside a suite on one line.

    >>> file = File("m.py", b"# set up\\nself.mask = m  # causal\\n")
    >>> print(replace_statement(file, file.module.body[0], ["self.register_buffer('mask', m)"]).code)
    # set up
    self.register_buffer('mask', m)  # causal
    <BLANKLINE>
    """
    found = _block_of(file, statement)
    if found is None:
        return None
    parent, index, old = found
    new = _parse_lines(lines)
    new[0] = new[0].with_changes(leading_lines=old.leading_lines)
    if isinstance(old, cst.SimpleStatementLine) and isinstance(new[-1], cst.SimpleStatementLine):
        new[-1] = new[-1].with_changes(trailing_whitespace=old.trailing_whitespace)
    return _with_body(file, parent, [*parent.body[:index], *new, *parent.body[index + 1 :]])


def move_statement(file: File, block: cst.IndentedBlock | cst.Module, number: int, before: int) -> cst.Module:
    """Return the module with a statement of a block before another one, both by their numbers in the block.

    >>> file = File("m.py", b"copy(model)\\nmodel.cuda()\\n")
    >>> print(move_statement(file, file.module, 1, 0).code)
    model.cuda()
    copy(model)
    <BLANKLINE>
    """
    body = list(block.body)
    body.insert(before, body.pop(number))
    new = block.with_changes(body=body)
    return new if isinstance(new, cst.Module) else file.replace({block: new})


def remove_statement(file: File, statement: cst.CSTNode) -> cst.Module | None:
    """Return the module without a statement and the comments directly above it; an empty block gets `pass`.

    Returns None inside a suite on one line.

    >>> file = File("m.py", b"if cuda:\\n    model.cuda()\\n")
    >>> print(remove_statement(file, file.statement_of(file.find(file.module, "model.cuda()")[0])).code)
    if cuda:
        pass
    <BLANKLINE>
    """
    found = _block_of(file, statement)
    if found is None:
        return None
    parent, index, _ = found
    body = [*parent.body[:index], *parent.body[index + 1 :]]
    return _with_body(file, parent, body or _parse_lines(["pass"]))


def add_method(file: File, holder: cst.ClassDef, lines: Sequence[str], after: str = "") -> cst.Module | None:
    """Return the module with a method behind another one of a class, else at its end; None if it is on one line.

    >>> file = File("m.py", b"class A:\\n    x = 1\\n")
    >>> print(add_method(file, file.module.body[0], ["def f(self):", "    return self.x"]).code)
    class A:
        x = 1
    <BLANKLINE>
        def f(self):
            return self.x
    <BLANKLINE>
    """
    body = holder.body
    if not isinstance(body, cst.IndentedBlock):
        return None
    method = cst.parse_statement("\n".join(lines))
    assert isinstance(method, cst.FunctionDef)
    method = method.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    named = [each.name.value if isinstance(each, cst.FunctionDef) else "" for each in body.body]
    index = named.index(after) + 1 if after in named and after else len(named)
    return file.replace({body: body.with_changes(body=[*body.body[:index], method, *body.body[index:]])})


def _block_of(file: File, statement: cst.CSTNode) -> tuple[Block, int, Line] | None:
    parent = file.parent(statement)
    if not isinstance(parent, Block):
        return None
    assert isinstance(statement, Line)
    return parent, next(index for index, each in enumerate(parent.body) if each is statement), statement


def _split_leading_lines(statement: Line) -> tuple[Sequence[cst.EmptyLine], Sequence[cst.EmptyLine]]:
    """Return the lines above a statement that stay above inserted ones, and those that stay with it."""
    lines = statement.leading_lines
    if isinstance(statement, cst.SimpleStatementLine):
        return lines, ()
    blank = max((number + 1 for number, line in enumerate(lines) if line.comment is None), default=0)
    return lines[:blank], lines[blank:]


def _parse_lines(lines: Sequence[str]) -> list[Line]:
    # Without the file's own configuration: what is indented by four spaces here is indented there as all of the file.
    return [cst.parse_statement(line) for line in lines]


def _with_body(file: File, parent: Block, body: Sequence[cst.BaseStatement]) -> cst.Module:
    if isinstance(parent, cst.Module):
        return file.module.with_changes(body=body)
    return file.replace({parent: parent.with_changes(body=body)})
