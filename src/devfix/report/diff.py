"""Edits as unified diffs: write them, parse them strictly, and apply them only if every line matches."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from devfix.model import Edit
from devfix.notebooks.notebook import cell_name, changed_cells, is_notebook


def format_diff(edit: Edit) -> str:
    """Return the edit as a diff that `git apply` takes; bytes that are not UTF-8 are kept as surrogate escapes."""
    return "".join(_lines(edit))


def split_cells(edit: Edit) -> Iterator[Edit]:
    """Yield the edit, or the edit of each cell of a notebook with the line in it."""
    if not is_notebook(edit.path):
        yield edit
        return
    for cell, before, after in changed_cells(edit.before, edit.after):
        pairs = enumerate(zip(before.splitlines(), after.splitlines(), strict=False), 1)
        line = next((number for number, (old, new) in pairs if old != new), 1)
        yield Edit(cell_name(edit.path, cell), line, before, after)


def _lines(edit: Edit) -> Iterator[str]:
    old, new = f"a/{edit.path}", f"b/{edit.path}"
    for line in difflib.unified_diff(_texts(edit.before), _texts(edit.after), old, new):
        # A file may end without a newline: git then needs this marker, on a line of its own.
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"


def _texts(data: bytes) -> list[str]:
    return [line.decode("utf-8", "surrogateescape") for line in split(data)]


_RANGES = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?")
_UNENDED = "\\ No newline at end of file"


@dataclass(frozen=True)
class Hunk:
    """A run of lines: `start` is the first line of the old file that it covers, from 1 (0 before the first line).

    `lines` are pairs of a mark (" ", "-", "+") and the line with its end, in bytes.
    """

    start: int
    lines: tuple[tuple[str, bytes], ...]

    @property
    def old(self) -> list[bytes]:
        """The lines before the change."""
        return [line for mark, line in self.lines if mark != "+"]

    @property
    def new(self) -> list[bytes]:
        """The lines after the change."""
        return [line for mark, line in self.lines if mark != "-"]


def parse(diff: str, path: str) -> list[Hunk]:
    """Return the hunks of a diff that changes the file `path` and nothing else; raise ValueError if it is invalid."""
    rows = diff.split("\n")
    if rows[:2] != [f"--- a/{path}", f"+++ b/{path}"]:
        raise ValueError("it does not start with the two lines that name its file")
    if rows.pop():
        raise ValueError("its last line has no newline")
    hunks = list(_hunks(rows[2:]))
    if not hunks:
        raise ValueError("it changes nothing")
    return hunks


def apply(hunks: Sequence[Hunk], data: bytes) -> bytes:
    """Return the file after the hunks; raise ValueError if a line differs from what a hunk expects."""
    lines = split(data)
    result: list[bytes] = []
    done = 0
    for hunk in hunks:
        first = hunk.start - 1 if hunk.old else hunk.start
        if first < done or lines[first : first + len(hunk.old)] != hunk.old:
            raise ValueError(f"the file differs from the diff at line {hunk.start}")
        result += [*lines[done:first], *hunk.new]
        done = first + len(hunk.old)
    return b"".join(result + lines[done:])


def split(data: bytes) -> list[bytes]:
    """Return the lines with their line feeds; nothing else ends a line, as in git: no form feed or carriage return."""
    rows = data.split(b"\n")
    return [row + b"\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])


def _hunks(rows: Sequence[str]) -> Iterator[Hunk]:
    index = 0
    while index < len(rows):
        ranges = _RANGES.fullmatch(rows[index])
        if ranges is None:
            raise ValueError("it has a line outside of a hunk")
        index += 1
        old, new = (1 if count is None else int(count) for count in (ranges[2], ranges[4]))
        lines: list[tuple[str, bytes]] = []
        while old > 0 or new > 0 or (index < len(rows) and rows[index] == _UNENDED):
            if index == len(rows):
                raise ValueError("it ends before its last hunk is complete")
            row = rows[index]
            index += 1
            if row == _UNENDED and lines:
                lines[-1] = (lines[-1][0], lines[-1][1].removesuffix(b"\n"))
                continue
            if row[:1] not in (" ", "-", "+"):
                raise ValueError("it has a line that is neither context, nor removed, nor added")
            old -= row[0] != "+"
            new -= row[0] != "-"
            lines.append((row[0], row[1:].encode("utf-8", "surrogateescape") + b"\n"))
        if old or new:
            raise ValueError("a hunk has more lines than its header says")
        yield Hunk(int(ranges[1]), tuple(lines))
