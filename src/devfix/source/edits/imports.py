"""Add imports that an edit needs, in the layout of the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from devfix.source import code
from devfix.source.queries.naming import imported_names, is_import

Whitespace = cst.SimpleWhitespace | cst.ParenthesizedWhitespace


def with_import(module: cst.Module, name: str, member: str | None = None) -> cst.Module:
    """Return the module with `import name`, or `from name import member`, unless it has that import.

    A member is added to an import from the same module, in its order and layout.

    >>> print(with_import(cst.parse_module("import os\\n\\nx = 1\\n"), "torch").code)
    import os
    import torch
    <BLANKLINE>
    x = 1
    <BLANKLINE>
    >>> print(with_import(cst.parse_module("from torch import (\\n    nn,\\n    zeros,\\n)\\n"), "torch", "ones").code)
    from torch import (
        nn,
        ones,
        zeros,
    )
    <BLANKLINE>
    """
    if (f"{name}.{member}" if member else name, member or name) in imported_names(module):
        return module
    joined = _with_joined(module, name, member) if member else None
    text = f"from {name} import {member}" if member else f"import {name}"
    return joined or _with_line(module, text, name == "__future__")


def _with_joined(module: cst.Module, name: str, member: str) -> cst.Module | None:
    """Return the module with a member added to its first import from the same module; None if it has none."""
    for line in (each for each in module.body if isinstance(each, cst.SimpleStatementLine)):
        for statement in line.body:
            if isinstance(statement, cst.ImportFrom) and _is_from(statement, name):
                new = _with_member(statement, member)
                changed = line.with_changes(body=[new if each is statement else each for each in line.body])
                return module.with_changes(body=[changed if each is line else each for each in module.body])
    return None


def _is_from(statement: cst.ImportFrom, name: str) -> bool:
    if statement.module is None or statement.relative or isinstance(statement.names, cst.ImportStar):
        return False
    return code(statement.module) == name


def _with_line(module: cst.Module, text: str, first: bool) -> cst.Module:
    """Return the module with an import after its last one, else after its docstring."""
    body = list(module.body)
    start = int(module.get_docstring() is not None)
    place = start if first else max((number + 1 for number, each in enumerate(body) if is_import(each)), default=start)
    new = cst.parse_statement(text)
    assert isinstance(new, cst.SimpleStatementLine)
    if place and not is_import(body[place - 1]):
        new = new.with_changes(leading_lines=[cst.EmptyLine()])
    following = body[place:]
    if following and not is_import(following[0]) and not _is_set_apart(following[0]):
        following[0] = following[0].with_changes(leading_lines=[cst.EmptyLine(), *following[0].leading_lines])
    return module.with_changes(body=[*body[:place], new, *following])


def _is_set_apart(statement: cst.SimpleStatementLine | cst.BaseCompoundStatement) -> bool:
    lines = statement.leading_lines
    return bool(lines) and lines[0].comment is None


def _with_member(statement: cst.ImportFrom, member: str) -> cst.ImportFrom:
    assert not isinstance(statement.names, cst.ImportStar)
    names = list(statement.names)
    new = cst.ImportAlias(cst.Name(member))
    between = cst.Comma(whitespace_after=_separator(statement, names))
    place = _place(names, member)
    if place < len(names):
        return statement.with_changes(names=[*names[:place], new.with_changes(comma=between), *names[place:]])
    last, right = names[-1], statement.rpar
    if isinstance(last.comma, cst.Comma):  # what ends the list stays at its end, except for the last name's comment
        new = new.with_changes(comma=last.comma.with_changes(whitespace_after=_plain(last.comma.whitespace_after)))
        comma = between.with_changes(whitespace_after=_with_comment(between, last.comma.whitespace_after))
    elif right is not None:
        comma = between.with_changes(whitespace_after=_with_comment(between, right.whitespace_before))
        right = right.with_changes(whitespace_before=_plain(right.whitespace_before))
    else:
        comma = between
    return statement.with_changes(names=[*names[:-1], last.with_changes(comma=comma), new], rpar=right)


def _place(names: Sequence[cst.ImportAlias], member: str) -> int:
    """Return where a name belongs among others: in their order if they have one, else at the end."""
    known = [each.evaluated_name for each in names]
    orders: tuple[Callable[[str], object], ...] = (_by_type, str.casefold, str)
    order = next((each for each in orders if [*map(each, known)] == sorted(map(each, known))), None)  # type: ignore[type-var]
    return len(known) if order is None else sum(order(each) < order(member) for each in known)  # type: ignore[operator]


def _by_type(name: str) -> tuple[int, str]:
    """Sort constants before classes before functions, as isort and ruff do by default."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), name.casefold()


def _separator(statement: cst.ImportFrom, names: Sequence[cst.ImportAlias]) -> Whitespace:
    """Return what stands between two names, without comments: a space, or a line end and the indentation."""
    commas = [each.comma for each in names[:-1] if isinstance(each.comma, cst.Comma)]
    if commas:
        return _plain(commas[0].whitespace_after)
    if statement.lpar is not None and isinstance(statement.lpar.whitespace_after, cst.ParenthesizedWhitespace):
        return _plain(statement.lpar.whitespace_after)
    return cst.SimpleWhitespace(" ")


def _plain(space: cst.BaseParenthesizableWhitespace) -> Whitespace:
    """Return whitespace without comments and empty lines."""
    if isinstance(space, cst.ParenthesizedWhitespace):
        line = space.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
        return space.with_changes(first_line=line, empty_lines=[])
    assert isinstance(space, cst.SimpleWhitespace)
    return space


def _with_comment(comma: cst.Comma, other: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    """Return the whitespace after a comma with the comment at the end of the line that another has."""
    space = comma.whitespace_after
    if not isinstance(other, cst.ParenthesizedWhitespace) or other.first_line.comment is None:
        return space
    if isinstance(space, cst.ParenthesizedWhitespace):
        return space.with_changes(first_line=other.first_line)
    # The comment ends the line, so that the new name needs a line of its own.
    return cst.ParenthesizedWhitespace(other.first_line, [], True, cst.SimpleWhitespace("    "))
