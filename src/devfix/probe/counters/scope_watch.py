"""Record the scope at watched locations, the first time that something runs there."""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any

from ..inspection import histories, scope
from ..provenance import places

_wanted: dict[str, set[int]] = {}
_files: dict[str, str] = {}
_seen: list[dict[str, Any]] = []


def want(watched: frozenset[tuple[str, int]]) -> None:
    """Start to watch these locations (real path and line)."""
    for path, line in watched:
        _wanted.setdefault(path, set()).add(line)


def is_active() -> bool:
    """Return whether any location has not been reached yet."""
    return bool(_wanted)


def look() -> None:
    """Record the scope of each frame on the stack at a watched location that was not reached before."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        path = _files.get(filename)
        if path is None:
            path = _files[filename] = os.path.realpath(filename)
        if path in _wanted:
            _see(frame, _wanted[path])
        frame = frame.f_back


def _see(frame: FrameType, lines: set[int]) -> None:
    place = places.describe(frame.f_code, frame.f_lasti, frame.f_lineno)
    found = lines.intersection(range(place["line"], (place["end_line"] or place["line"]) + 1))
    found.update(lines.intersection((frame.f_lineno,)))
    if found:
        lines.difference_update(found)
        bindings = [histories.binding(held) for held in scope.look(frame)]
        for line in sorted(found):
            _seen.append({"place": {**place, "line": line}, "scope": bindings})


def export() -> list[dict[str, Any]]:
    """Write what was recorded."""
    return _seen


def reset() -> None:
    """Forget what was recorded, for a forked child; locations that were reached are not recorded again."""
    _seen.clear()
