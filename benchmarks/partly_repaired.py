"""A clone in which a kept change is applied but for the hunk of one finding: what hides it is repaired there."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)
_FILE = re.compile(r"^--- a/(.+)$", re.MULTILINE)


@contextmanager
def without(folder: Path, change: str, path: str, line: int) -> Iterator[bool]:
    """Apply a change of unified diffs without context, but for the hunk that changes a line; take it out at the end.

    Yields False, and applies nothing, where no hunk changes that line, or no other one is left.
    """
    left, others = _left_out(change, path, line)
    if not left or not others:
        yield False
        return
    command = ["git", "-C", str(folder), "apply", "--unidiff-zero"]
    subprocess.run(command, input=others, text=True, check=True)
    try:
        yield True
    finally:
        subprocess.run([*command, "--reverse"], input=others, text=True, check=True)


def _left_out(change: str, path: str, line: int) -> tuple[bool, str]:
    """Return whether a change has hunks with a line of a file, and the change without these."""
    is_left, others = False, ""
    for part in re.split(r"^(?=--- a/)", change, flags=re.MULTILINE):
        named = _FILE.match(part)
        if named is None:
            continue
        head, *hunks = re.split(r"^(?=@@ )", part, flags=re.MULTILINE)
        kept = [each for each in hunks if named[1] != path or not _changes(each, line)]
        is_left = is_left or len(kept) < len(hunks)
        others += "".join((head, *kept)) if kept else ""
    return is_left, others


def _changes(hunk: str, line: int) -> bool:
    found = _HUNK.match(hunk)
    return found is not None and int(found[1]) <= line < int(found[1]) + int(found[2] or 1)
