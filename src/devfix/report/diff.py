"""An edit as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from devfix.model import Edit


def format_diff(edit: Edit) -> str:
    """Return the edit as a diff that `git apply` takes; bytes that are not UTF-8 are kept as surrogate escapes."""
    return "".join(_lines(edit))


def _lines(edit: Edit) -> Iterator[str]:
    old, new = f"a/{edit.path}", f"b/{edit.path}"
    for line in difflib.unified_diff(_split(edit.before), _split(edit.after), old, new):
        # A file may end without a newline: git then needs this marker, on a line of its own.
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"


def _split(data: bytes) -> list[str]:
    """Split at line feeds only, as git does: form feeds and lone carriage returns are part of a line."""
    text = data.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
