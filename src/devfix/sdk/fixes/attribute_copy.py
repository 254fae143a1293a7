"""Move an attribute once for all its reads below, into a local variable."""

from __future__ import annotations

import re

import libcst as cst

from devfix.sdk.changes import Change, change
from devfix.source import File
from devfix.source.edits.statements import insert_before
from devfix.source.queries.loops import outside_loops
from devfix.source.queries.optional import may_be_left_none
from devfix.source.queries.reading import assignments, is_given

ATTRIBUTE = re.compile(r"\w+(\.\w+)+")


def assign_locally(file: File, node: cst.BaseExpression, text: str, anchor: str, moved: str = "") -> Change | None:
    """Return a change that moves an attribute into a local variable, before a statement and the loops around it.

    `moved` is the expression of what is moved, where that is not `text.to(anchor)`.
    Returns None if only one statement reads the attribute and no loop does, if the function assigns the attribute, if
    it may be None there, or if the local name is taken.

    >>> lines = b"def f(self, x):\\n    y = x @ self.table\\n    return self.table @ y\\n"
    >>> file = File("m.py", lines)
    >>> found = assign_locally(file, file.find(file.module, "self.table")[0], "self.table", "x.device")
    >>> print(found.edits[0].after.decode())
    def f(self, x):
        table = self.table.to(x.device)
        y = x @ table
        return table @ y
    <BLANKLINE>
    """
    function, statement = file.function_of(node), outside_loops(file, node, text, anchor)
    if function is None or statement is None or not ATTRIBUTE.fullmatch(text):
        return None
    roots = [each.partition(".")[0].removeprefix("next(") for each in (text, anchor)]
    if any(file.is_bound_within(node, each) for each in roots):  # no statement in front of it can read the name
        return None
    if may_be_left_none(file, statement, text):
        return None
    name, block = text.rpartition(".")[2], file.parent(statement)
    if _is_name_taken(file, function, name) or _is_written(file, function, text) or block is None:
        return None
    first = file.line_of(statement)
    reads = [each for each in file.find(function, text) if file.line_of(each) >= first]
    if not all(file.function_of(each) is function and _is_in(file, each, block) for each in reads):
        return None
    hoisted = statement is not file.statement_of(node)
    if not hoisted and len({id(file.statement_of(each)) for each in reads}) < 2:
        return None
    renamed = File(file.path, file.replace({each: cst.Name(name) for each in reads}).bytes)
    line = next(each for each in renamed.within(renamed.module) if _is_line(renamed, each, first, statement))
    module = insert_before(renamed, line, [f"{name} = {moved or f'{text}.to({anchor})'}"])
    return change(file, module, f"Move `{text}` to `{anchor}` once, before it is used")


def _is_in(file: File, node: cst.CSTNode, block: cst.CSTNode) -> bool:
    return any(around is block for around in file.ancestors(node))


def _is_name_taken(file: File, function: cst.FunctionDef, name: str) -> bool:
    """Return whether a name is already used in a function, other than as an attribute or keyword."""
    for each in file.within(function):
        if isinstance(each, cst.Name) and each.value == name:
            parent = file.parent(each)
            named = isinstance(parent, cst.Attribute) and parent.attr is each
            if not named and not (isinstance(parent, cst.Arg) and parent.keyword is each):
                return True
    return False


def _is_written(file: File, function: cst.FunctionDef, text: str) -> bool:
    """Return whether a function assigns an attribute or a part of it."""
    targets = [each for each in file.find(function, text) if is_given(file, each)]
    return bool(targets or assignments(file, text, function))


def _is_line(file: File, node: cst.CSTNode, line: int, like: cst.CSTNode) -> bool:
    return type(node) is type(like) and file.statement_of(node) is node and file.line_of(node) == line
