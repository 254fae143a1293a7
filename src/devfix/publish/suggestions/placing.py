"""Map the changes of a fix to lines of a pull request's diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from devfix.publish.forges.capabilities import DiffLines, Suggestion
from devfix.report.diff import split
from devfix.report.render.pull_request.markdown import without_commands


def is_shown(lines: Sequence[range], first: int, last: int) -> bool:
    """Return whether one hunk shows all these lines."""
    return any(first in shown and last in shown for shown in lines)


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


_LONGEST = 20_000  # characters of a suggestion; GitHub's limit for a comment is 65,536


def place(changes: Iterable[Change], shown: DiffLines) -> Iterator[Change | Suggestion]:
    """Yield each change as a suggestion, or as it is if the diff does not show its lines or GitHub would alter it.

    An insertion becomes a suggestion for a line beside it. No two suggestions have a line in common.
    """
    used: dict[str, int] = {}
    for change in changes:
        for first, old, new in _candidates(change):
            last = first + len(old) - 1
            text = _text(old, new)
            lines = shown.get(change.path, ())
            if text is not None and first > used.get(change.path, 0) and is_shown(lines, first, last):
                used[change.path] = last
                yield Suggestion(change.path, first, last, b"".join(old).decode("utf-8", "replace"), text)
                break
        else:
            yield change


def _candidates(change: Change) -> Iterator[tuple[int, Sequence[bytes], Sequence[bytes]]]:
    """Yield the first line, the old lines and the new ones; for an insertion, with the line above or below it."""
    if change.old:
        yield change.first, change.old, change.new
        return
    if change.above is not None:
        yield change.first - 1, (change.above,), (change.above, *change.new)
    if change.below is not None:
        yield change.first, (change.below,), (*change.new, change.below)


def _text(old: Sequence[bytes], new: Sequence[bytes]) -> str | None:
    """Return the new lines as text; None if a suggestion cannot say them exactly."""
    try:
        text = b"".join(new).decode("utf-8")
    except UnicodeDecodeError:
        return None
    if b"\r" in b"".join((*old, *new)) or len(text) > _LONGEST:
        return None  # GitHub decides itself which ends of lines it writes
    if new and old[-1].endswith(b"\n") != new[-1].endswith(b"\n"):
        return None
    if without_commands(text) != text:
        return None  # what services read in the raw text of a comment
    return text + "\n" if text and not text.endswith("\n") else text
