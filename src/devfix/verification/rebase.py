"""Rebase patches onto earlier edits, or merge them into one edit per file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from devfix.model import Edit, Patch
from devfix.verification.edit_map import blocks


def rebase(patch: Patch, earlier: Sequence[Edit]) -> Patch | None:
    """Return a patch without the edits before it (oldest first); None if it changes lines that they changed."""
    edits: list[Edit] = []
    for edit in patch.edits:
        moved: Edit | None = edit
        for before in reversed([each for each in earlier if each.path == edit.path]):
            moved = _without(before, moved) if moved is not None else None
        if moved is None:
            return None
        edits.append(moved)
    return replace(patch, edits=tuple(edits), parts=())


def _without(before: Edit, edit: Edit) -> Edit | None:
    """Return the edit as it applies to the file before another edit, on whose result it is based."""
    if not before.before.endswith((b"\n", b"\r")):
        return None  # an insertion at the end would become part of the last line
    lines, new = before.before.splitlines(keepends=True), edit.after.splitlines(keepends=True)
    changes = [(start, stop, new[begin:end]) for tag, start, stop, begin, end in blocks(edit) if tag != "equal"]
    first = None
    for start, stop, put in reversed(changes):
        at = _line_before(before, start, stop)
        if at is None:
            return None
        lines[at : at + stop - start] = put
        first = at
    if first is None:
        return None
    return replace(edit, line=first + 1, before=before.before, after=b"".join(lines))


def _line_before(edit: Edit, start: int, stop: int) -> int | None:
    """Return the index, before an edit, of the lines from `start` to `stop` after it; None if the edit changed them."""
    for tag, old_from, _, new_from, new_to in blocks(edit):
        if tag == "equal" and new_from <= start and stop <= new_to:
            return old_from + start - new_from
    return None


def parts_with(patch: Patch, later: Patch) -> tuple[Patch, ...]:
    """Return the parts of a patch that does what `patch` does and then `later`."""
    return (*(patch.parts or (patch,)), *(later.parts or (later,)))


def merge_edits(first: Iterable[Edit], later: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return one edit per file that does what `first` does and then `later`, which starts from its result."""
    merged = {edit.path: edit for edit in first}
    for edit in later:
        known = merged.get(edit.path)
        if known is not None:
            edit = Edit(edit.path, min(known.line, edit.line), known.before, edit.after)
        merged[edit.path] = edit
    return tuple(merged.values())
