"""Where in a program the edits of a diff stand, and whether that is where a case wants them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

# What may be written over several lines and is one place all the same.
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Call)
HUNK = re.compile(r"@@ -(\d+)")


def changes(diff: str) -> list[tuple[str, frozenset[int]]]:
    """Each run of changed lines in a unified diff: the file and the lines of its old version at which it stands."""
    found: list[tuple[str, frozenset[int]]] = []
    path, line, touched = "", 0, set[int]()
    for text in [*diff.splitlines(), " "]:
        if touched and not text.startswith(("-", "+")):
            found.append((path, frozenset(touched)))
            touched = set()
        if text.startswith("--- "):
            path = text[4:].removeprefix("a/")
        elif match := HUNK.match(text):
            line = int(match[1])
        elif text.startswith("-"):
            touched.add(line)
            line += 1
        elif text.startswith("+") and not text.startswith("+++"):
            touched |= touched or {line - 1, line}
        elif text.startswith(" "):
            line += 1
    return found


def in_place(wanted: tuple[list[str], ...], edits: list[tuple[str, frozenset[int]]], program: Path) -> bool:
    """Whether edits stand at every one of the places, each a list of alternatives, and nowhere else."""
    places = [{line for text in place for line in lines_of(program, text)} for place in wanted]
    if not places:
        return True
    hit = [[(path, line) in place for path, lines in edits for line in lines] for place in places]
    allowed = set[tuple[str, int]]().union(*places)
    return all(any(each) for each in hit) and all(any((path, n) in allowed for n in lines) for path, lines in edits)


def lines_of(program: Path, place: str) -> Iterator[tuple[str, int]]:
    """The lines at which an edit is at a place: the one it names, and the rest of the statement or call begun there."""
    path, line = line_of(program, place)
    yield path, line
    tree = ast.parse((program / path).read_bytes()) if path.endswith(".py") else ast.Module([], [])
    for node in ast.walk(tree):
        if isinstance(node, SIMPLE) and node.lineno == line:
            yield from ((path, further) for further in range(line, (node.end_lineno or line) + 1))


def line_of(program: Path, place: str) -> tuple[str, int]:
    """The file and the line that a place names. Raises ValueError where it names none, or several."""
    path, _, text = place.partition(": ")
    lines = (program / path).read_text(encoding="utf-8").splitlines()
    numbers = [number for number, line in enumerate(lines, 1) if text in line]
    if len(numbers) != 1:
        raise ValueError(f"`{place}` names {len(numbers)} lines; it must name one")
    return path, numbers[0]
