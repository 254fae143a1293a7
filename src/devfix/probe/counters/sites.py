"""Count operators at the location of a failure: how often each ended there, and how often it failed.

If a patch suppresses the failure (an `except` around it, a `return` before it), the program ends well although the
failing operator never ran; the counts of two runs show that.
"""

from __future__ import annotations

import contextlib
import os
import sys
from types import CodeType, FrameType
from typing import Any

from ..provenance import places
from ..simulation.operator_tables import operators
from . import checksums, totals

_lines: dict[str, set[int]] = {}
_visits: dict[str, list[int]] = {}  # operator -> completed, raised, completed on a device, saw the expected values
_working: set[str] = set()  # compute operators that a line itself called, not through a function of torch
_steps, _mark = 0, ""  # how often an operator runs until the file is made
_here: dict[tuple[int, int], tuple[CodeType, bool]] = {}  # (code id, instruction) -> code, answer


def want(reach: frozenset[tuple[str, int]], steps: int = 0, traces: str = "") -> None:
    """Start to count at these lines (real path and line); after `steps` runs of an operator make a file in `traces`."""
    global _steps, _mark
    _steps, _mark = steps, os.path.join(traces, "reached")
    for path, line in reach:
        _lines.setdefault(path, set()).add(line)


def is_active() -> bool:
    """Return whether anything is counted."""
    return bool(_lines)


def count_operator(result: Any, func: Any, args: Any = (), kwargs: Any = None) -> None:
    """Count a completed operator if the nearest owned frame is at one of the lines."""
    if _stands_here(places.nearest(1)):
        name = operators.qualified_name(func)
        row = _visits.setdefault(name, [0, 0, 0, 0])
        row[0] += 1
        if row[0] == _steps:
            _mark_reached()
        row[2] += totals.is_on_device(result)
        if checksums.is_active() and not row[3]:
            row[3] = checksums.are_given(func, args, kwargs)
        # torch's own Python code may depend on the device: printing, optimizers, gradient scaling.
        if name not in _working and totals.is_work(func) and _is_direct():
            _working.add(name)


def count_function(func: str) -> None:
    """Count a completed function outside of the dispatcher."""
    if _stands_here(places.nearest(1)):
        row = _visits.setdefault(func, [0, 0, 0, 0])
        row[0] += 1
        if row[0] == _steps:
            _mark_reached()


def _mark_reached() -> None:
    """Make the file by which devfix knows that the program may be ended."""
    with contextlib.suppress(OSError):  # then the program runs to its end
        os.close(os.open(_mark, os.O_CREAT | os.O_WRONLY, 0o600))


def count_failure(func: Any) -> None:
    """Count an operator that raised a device failure."""
    if _lines and _stands_here(places.nearest(1)):
        _visits.setdefault(operators.qualified_name(func), [0, 0, 0, 0])[1] += 1


def _stands_here(stack: places.Stack) -> bool:
    if not stack:
        return False
    code, instruction = stack[-2:]
    known = _here.get((id(code), instruction))
    if known is None:
        known = _here[id(code), instruction] = code, _is_wanted(code, instruction)
    return known[1]


def _is_wanted(code: CodeType, instruction: int) -> bool:
    lines = _lines.get(os.path.realpath(code.co_filename))
    if lines is None:
        return False
    place = places.describe(code, instruction)
    return not lines.isdisjoint(range(place["line"], (place["end_line"] or place["line"]) + 1))


def _is_direct() -> bool:
    """Return whether owned code called the running function directly, without torch or other packages in between."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if places.kind_of(code) != places.PROBE and os.path.basename(code.co_filename) not in places.MACHINERY:
            return places.kind_of(code) == places.OWNED
        frame = frame.f_back
    return False


def export() -> list[dict[str, Any]]:
    """Write the counts, one entry for each operator."""
    return [
        {
            "op": name,
            "completed": ran,
            "raised": failed,
            "is_compute": name in _working,
            "device": device,
            "saw_expected_values": bool(same),
        }
        for name, (ran, failed, device, same) in list(_visits.items())
    ]


def reset() -> None:
    """Forget all counts, for a forked child."""
    _visits.clear()
