"""The changed lines between two versions of a file."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.report.hunks import split


@dataclass(frozen=True)
class Change:
    """Lines of a file that others replace: `first` counts from 1, and `old` is empty for an insertion before it.

    `above` and `below` are the lines around it, None at the ends of the file.
    """

    path: str
    first: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    above: bytes | None
    below: bytes | None


def changes(path: str, before: bytes, after: bytes) -> Iterator[Change]:
    """Yield what differs between two versions of a file, from top to bottom; an unchanged line lies between two."""
    old, new = split(before), split(after)
    for kind, start, end, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            above = old[start - 1] if start else None
            below = old[end] if end < len(old) else None
            yield Change(path, start + 1, tuple(old[start:end]), tuple(new[first:last]), above, below)
