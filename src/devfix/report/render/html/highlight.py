"""Diffs with the colours of Python's syntax."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pygments import lex
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from devfix.report.plain import plain

_LONGEST = 100_000  # characters of a diff that is coloured
_CLASSES = (
    (Comment, "comment"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
    (String, "string"),
    (Number, "number"),
    (Name.Function, "name"),
    (Name.Class, "name"),
    (Name.Decorator, "name"),
    (Name.Builtin, "builtin"),
)
Part = tuple[str, str]  # a class, "" for none, and the text


@dataclass(frozen=True)
class DiffRow:
    """A line of a diff: "add", "remove", "same", "hunk" or "file", its mark, and its parts."""

    kind: str
    mark: str
    parts: tuple[Part, ...]


def diff_rows(diff: str) -> list[DiffRow]:
    """Return the lines of a unified diff; those of each hunk are coloured as a piece of the file before and after."""
    rows, hunk = list[DiffRow](), list[str]()
    inside = False
    for line in plain(diff).splitlines():
        if inside and line[:1] in ("+", "-", " "):
            hunk.append(line)
            continue
        rows += _hunk(hunk)
        hunk, inside = [], line.startswith("@@")
        kind = "hunk" if inside else "file"
        rows.append(DiffRow(kind, "", (("", line),)))
    return rows + list(_hunk(hunk))


def _hunk(lines: Sequence[str]) -> Iterator[DiffRow]:
    old = iter(_color(line[1:] for line in lines if line[0] != "+"))
    new = iter(_color(line[1:] for line in lines if line[0] != "-"))
    for line in lines:
        if line[0] == "-":
            yield DiffRow("remove", "-", next(old))
        elif line[0] == "+":
            yield DiffRow("add", "+", next(new))
        else:
            next(old)
            yield DiffRow("same", " ", next(new))


def _color(lines: Iterable[str]) -> list[tuple[Part, ...]]:
    """Return the parts of each line of a piece of Python."""
    rows = list(lines)
    text = "\n".join(rows)
    if len(text) > _LONGEST:
        return [(("", row),) for row in rows]
    found: list[list[Part]] = [[]]
    for token, value in lex(text, PythonLexer(stripnl=False, ensurenl=False)):
        kind = _class(token)
        for number, part in enumerate(value.split("\n")):
            if number:
                found.append([])
            if part:
                found[-1].append((kind, part))
    # The lexer reads a carriage return as the end of a line: then the colours are left out.
    fits = len(found) == len(rows) and all("".join(p for _, p in a) == b for a, b in zip(found, rows, strict=True))
    return [tuple(parts) for parts in found] if fits else [(("", row),) for row in rows]


def _class(token: _TokenType) -> str:
    return next((name for kind, name in _CLASSES if token[: len(kind)] == kind), "")
