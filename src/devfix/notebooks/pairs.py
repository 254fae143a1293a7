"""Scripts that jupytext keeps beside a notebook (`.py`, percent or light format), and changes made in both.

The header of the script, or `jupytext.toml`, names the formats of a pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from posixpath import basename, dirname, join, normpath
from typing import Any

from .notebook import changed_cells, is_notebook

CONFIGURATIONS = ("jupytext.toml", ".jupytext.toml")
_HEADER = re.compile(r"(?m)^#\s+formats:\s*(\S.*?)\s*$")
_LONGEST = 4000  # bytes of a header
_FORMAT = re.compile(r"(?:(?P<folder>.*)/)?(?P<suffix>[^:/]*?)(?::.*)?$")


def partner(path: str, formats: str) -> str:
    """Return the path of the file paired with a notebook, or with a script; "" if the formats name none.

    >>> partner("ch02.ipynb", "ipynb,py:percent")
    'ch02.py'
    >>> partner("notebooks/ch02.ipynb", "notebooks//ipynb,scripts//py:percent")
    'scripts/ch02.py'
    """
    named = [found for each in formats.split(",") if (found := _FORMAT.match(each.strip()))]
    own, other = ("ipynb", "py") if is_notebook(path) else ("py", "ipynb")
    ours = next((each for each in named if each["suffix"].lstrip(".") == own), None)
    theirs = next((each for each in named if each["suffix"].lstrip(".") == other), None)
    if ours is None or theirs is None:
        return ""
    stem = basename(path).rpartition(".")[0] + "." + other
    mine, its = (_folder(each["folder"]) for each in (ours, theirs))
    folder = dirname(path)
    if mine:
        before, own_folder, after = f"/{folder}/".rpartition(f"/{mine}/")
        if not own_folder:
            return ""
        folder = join(before.strip("/"), its, after.strip("/"))
    elif its:
        folder = join(folder, its)
    return normpath(join(folder, stem)).lstrip("/")


def formats_of(script: bytes | None, configuration: Mapping[str, Any]) -> str:
    """Return the formats that the header of a paired script names, else those of the configuration; "" without either.

    The notebook's metadata name them too, and jupytext writes those into the header.
    """
    found = _HEADER.search((script or b"")[:_LONGEST].decode("utf-8", "replace"))
    if found is not None:
        return found[1].strip("\"' \t")
    said = configuration.get("formats")
    if isinstance(said, dict):  # folders as keys
        said = ",".join(f"{folder.rstrip('/')}//{kind}" if folder else str(kind) for folder, kind in said.items())
    return said if isinstance(said, str) else ""


def script_after(before: bytes, after: bytes, script: bytes) -> bytes | None:
    """Return a paired script with the changes between two scripts of a notebook; None if its lines are others."""
    text = script.decode("utf-8")
    for _, old, new in changed_cells(before, after):
        changed = _replace_lines(text, old.decode("utf-8"), new.decode("utf-8"))
        if changed is None:
            return None
        text = changed
    return text.encode("utf-8")


def notebook_script_after(before: bytes, after: bytes, script: bytes) -> bytes | None:
    """Return the script of a notebook with the changes of the paired file; None if its lines are others."""
    return _hunks_moved(before.decode("utf-8"), after.decode("utf-8"), script.decode("utf-8"))


def _replace_lines(text: str, old: str, new: str) -> str | None:
    """Return a text in which the lines of a cell are changed where they stand once."""
    changed = _hunks_moved(old, new, text)
    return changed.decode("utf-8") if changed is not None else None


def _hunks_moved(old: str, new: str, text: str) -> bytes | None:
    """Return another text with each change between two; lines around it say where, which must be one place."""
    lines, before, after = text.split("\n"), old.split("\n"), new.split("\n")
    for start, stop, put in reversed(list(_changes(before, after))):
        place = _place(lines, before, start, stop)
        if place is None:
            return None
        lines[place : place + stop - start] = put
    return "\n".join(lines).encode("utf-8")


def _changes(before: list[str], after: list[str]) -> Iterator[tuple[int, int, list[str]]]:
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield a, b, after[c:d]


def _place(lines: list[str], before: list[str], start: int, stop: int) -> int | None:
    """Return where the lines of a change are in another text: with as many lines around it as make it unique."""
    for around in range(0 if stop > start else 1, len(before) + 1):
        first, last = max(0, start - around), min(len(before), stop + around)
        wanted = before[first:last]
        found = [at for at in range(len(lines) - len(wanted) + 1) if lines[at : at + len(wanted)] == wanted]
        if len(found) == 1:
            return found[0] + start - first
        if not found or (first == 0 and last == len(before)):
            return None
    return None


def _folder(text: str | None) -> str:
    return (text or "").strip("/")
