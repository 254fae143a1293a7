"""The lines of source that a report quotes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from devfix.model import Edit

Lines = Callable[[str, int], str]
"""Gives a line of a file, without its end: `lines("train.py", 31)`; "" if the file or the line does not exist."""


def no_lines(path: str, line: int) -> str:
    """Return "" for every line, if the source is not available."""
    return ""


def line_of(data: bytes, line: int) -> str:
    """Return a line (from 1) of a file's bytes, "" past its end."""
    rows = data.split(b"\n")
    return rows[line - 1].decode("utf-8", "replace").rstrip("\r") if 0 < line <= len(rows) else ""


def after(lines: Lines, edits: Sequence[Edit]) -> Lines:
    """Return the lines after the edits."""
    changed = {edit.path: edit.after for edit in edits}
    return lambda path, line: line_of(changed[path], line) if path in changed else lines(path, line)
