"""Wrap the lines that an edit has made too long."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from itertools import pairwise

LIMIT = 120  # columns, where no line of the file is longer
INDENT = "    "
LAYOUT = frozenset({tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT})
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


def wrap_long_lines(before: bytes, after: bytes) -> bytes:
    """Return a file in which new lines that are longer than all others are split in their brackets, as formatters do.

    A line that cannot be split stays as it is, and so does one that would no longer mean the same.

    >>> before = b"scores = measure(weights)\\n"
    >>> after = b"scores = measure(" + b", ".join(b"weights_of_layer_%d.to(device)" % i for i in range(4)) + b")\\n"
    >>> print(wrap_long_lines(before, after).decode(), end="")
    scores = measure(
        weights_of_layer_0.to(device),
        weights_of_layer_1.to(device),
        weights_of_layer_2.to(device),
        weights_of_layer_3.to(device),
    )
    """
    old = before.splitlines()
    limit = max([LIMIT, *map(len, old)])
    lines = after.splitlines(keepends=True)
    if all(len(line.rstrip(b"\r\n")) <= limit for line in lines):
        return after
    try:
        wrapped = "".join(_wrap(line.decode(), limit) for line in lines)
        is_same = ast.dump(ast.parse(after)) == ast.dump(ast.parse(wrapped))
    except (SyntaxError, ValueError):  # a notebook with commands of IPython, or another encoding
        return after
    return wrapped.encode() if is_same else after


def _wrap(line: str, limit: int) -> str:
    """Return a line of a whole statement, split in its longest bracket if it is too long."""
    text = line.rstrip("\r\n")
    pair = _longest_bracket(text) if len(text) > limit else None
    if pair is None:
        return line
    end, indent = line[len(text) :] or "\n", text[: len(text) - len(text.lstrip())]
    head, body, tail = text[: pair[0] + 1], text[pair[0] + 1 : pair[1]], text[pair[1] :]
    inside = [body] if len(indent + INDENT + body) <= limit else list(_elements(body))
    parts = [head, *(_wrap(f"{indent}{INDENT}{each}", limit) for each in inside), f"{indent}{tail}"]
    rows = [row for part in parts for row in part.split("\n")]
    wrapped = "".join(f"{row}{end}" for row in rows)
    return wrapped[: len(wrapped) - len(end) * (line == text)] if all(len(row) <= limit for row in rows) else line


def _longest_bracket(text: str) -> tuple[int, int] | None:
    """Return where the longest outermost bracket opens and closes; None if the line is no one whole statement."""
    found, opened = [], list[int]()
    for token in _tokens(text):
        if token.type == tokenize.COMMENT or token.string == ";":  # the next statement would begin behind a bracket
            return None
        if token.string in OPENING:
            opened.append(token.start[1])
        elif token.string in CLOSING:
            if not opened:
                return None
            start = opened.pop()
            found += [(start, token.start[1])] if not opened else []
    return max(found, key=lambda pair: pair[1] - pair[0], default=None) if not opened else None


def _elements(body: str) -> Iterator[str]:
    """Yield the parts of what a bracket holds: arguments with their commas, or the clauses of a comprehension."""
    depth, cuts, is_comprehension = 0, [0], False
    for token in _tokens(body):
        depth += (token.string in OPENING) - (token.string in CLOSING)
        if depth == 0 and token.string == "for":
            is_comprehension = True
            cuts.append(token.start[1])
        elif depth == 0 and token.string == ",":
            cuts.append(token.end[1])
    parts = [body[start:end].strip() for start, end in pairwise([*cuts, len(body)])]
    kept = [part for part in parts if part]
    if len(kept) > 1 and not is_comprehension and not kept[-1].endswith(","):
        kept[-1] += ","
    yield from kept


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    """Return the tokens of a line; none if it is not whole, such as a part of a string of several lines."""
    try:
        every = list(tokenize.generate_tokens(io.StringIO(text.strip()).readline))
    except (tokenize.TokenError, SyntaxError):
        return []
    shift = len(text) - len(text.lstrip())
    return [
        each._replace(start=(each.start[0], each.start[1] + shift), end=(each.end[0], each.end[1] + shift))
        for each in every
        if each.type not in LAYOUT
    ]
