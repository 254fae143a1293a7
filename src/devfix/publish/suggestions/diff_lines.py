"""The lines of a pull request's diff, on which alone a review can comment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d{1,9})(?:,(\d{1,9}))? @@", re.MULTILINE)


def shown_lines(patch: str) -> Iterator[range]:
    """Yield the lines of the new version that each hunk of a diff shows."""
    for found in _HUNK.finditer(patch):
        start, count = int(found[1]), 1 if found[2] is None else int(found[2])
        yield range(start, start + count)


def is_shown(lines: Sequence[range], first: int, last: int) -> bool:
    """Return whether one hunk shows all these lines."""
    return any(first in shown and last in shown for shown in lines)
