"""Map the changes of a fix to lines of a pull request's diff."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from devfix.publish.capabilities import DiffLines, Suggestion
from devfix.publish.suggestions.changes import Change
from devfix.publish.suggestions.diff_lines import is_shown
from devfix.report.render.markdown import without_commands

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
