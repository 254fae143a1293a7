"""Source positions of instructions; one that fetches the next item of a loop spans the loop's body."""

from __future__ import annotations

import dis
import itertools
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

COLUMNS = sys.version_info >= (3, 11)
_FOR_ITER = dis.opmap["FOR_ITER"]
_known: dict[tuple[int, int], tuple[CodeType, dict[str, Any]]] = {}

_Point = tuple[Any, Any]  # line and column; either may be None


def position(code: CodeType, instruction: int) -> dict[str, Any]:
    """Return the position of an instruction for a trace; nothing if Python does not know its line."""
    known = _known.get((id(code), instruction))
    if known is None or known[0] is not code:
        if len(_known) > 4096:
            _known.clear()
        position = _body(code, instruction) or _position(code, instruction, instruction + 2)
        known = _known[id(code), instruction] = code, position
    return known[1]


def _body(code: CodeType, instruction: int) -> dict[str, Any]:
    """Return the body of the loop, or comprehension, whose iteration starts at an instruction; nothing for others.

    Python reports the whole loop for such an instruction, its iterable from 3.13 on, and a line in 3.10.
    """
    if code.co_code[instruction] != _FOR_ITER:
        return {}
    end = next(each.argval for each in dis.get_instructions(code) if each.offset == instruction)
    position = _position(code, instruction + 2, end)
    return position and {**position, "loop": True}


def _position(code: CodeType, start: int, end: int) -> dict[str, Any]:
    # No list of all points: so many new tuples would trigger the garbage collector, for a second.
    first = min((first for first, _ in _points(code, start, end)), key=_order, default=(None, None))
    last = max((last for _, last in _points(code, start, end)), key=_order, default=(None, None))
    if first[0] is None:
        return {}
    return {"line": first[0], "end_line": last[0], "column": first[1], "end_column": last[1]}


def _points(code: CodeType, start: int, end: int) -> Iterator[tuple[_Point, _Point]]:
    """Yield the start and end of each instruction in the file."""
    if sys.version_info >= (3, 11):
        for line, end_line, column, end_column in itertools.islice(code.co_positions(), start // 2, end // 2):
            if line is not None:
                yield (line, column), (end_line, end_column)
    else:
        for first, behind, line in code.co_lines():
            if line is not None and first < end and start < behind:
                yield (line, None), (line, None)


def _order(point: _Point) -> tuple[int, int]:
    return point[0] or 0, point[1] or 0
