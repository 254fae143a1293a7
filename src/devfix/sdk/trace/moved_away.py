"""Recognize a move between two uses, such as by code that saves a module, which is not meant for the second use."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from devfix.model import Event, Failure, Operand, SourceLocation
from devfix.sdk.trace.history import frame_of, function_at
from devfix.source import File, Sources


@dataclass(frozen=True)
class MovedAway:
    """The move of a tensor by which a later use fails.

    `place` is where the innermost function that still runs made the move, or called what made it, and `frame` the
    number of that function's frame.

    >>> MovedAway(failure.operands[1].history[0], failure.at, 0).is_in_callee
    False
    """

    event: Event
    place: SourceLocation
    frame: int

    @property
    def is_in_callee(self) -> bool:
        """True if a function made the move that has returned."""
        made = self.event.owned_place
        return made is not None and function_at(made) != function_at(self.place)


def moved_away(failure: Failure, operand: Operand, sources: Sources) -> MovedAway | None:
    """Return the last move of a tensor if what fails now ran before it, with the tensor where it was; else None.

    It ran before in an earlier iteration of a loop in which the move comes after the use, or where the same function
    was called earlier, and the move was made by a callee whose result nobody took.

    >>> moved_away(failure, failure.operands[0], source) is None
    True
    """
    moves = operand.transfers
    if not moves or moves[-1].device != operand.device or operand.history[0].device == "meta":
        return None
    found = next(
        (
            MovedAway(moves[-1], place, frame)
            for place in moves[-1].places
            if place.owned and (frame := frame_of(failure, place)) is not None
        ),
        None,
    )
    return found if found is not None and _ran_before(failure, found, sources) else None


def _ran_before(failure: Failure, moved: MovedAway, sources: Sources) -> bool:
    running = failure.frames[moved.frame].place
    file = sources.file(moved.place)
    move, use = (file.root_at(each) if file is not None else None for each in (moved.place, running))
    if file is None or move is None or use is None:
        return False
    around = file.loops_around(use)
    if any(loop in around for loop in file.loops_around(move)):
        return moved.place.line > running.line
    return moved.is_in_callee and _is_dropped(file, move) and _is_called_before(file, use, move)


def _is_dropped(file: File, call: cst.CSTNode) -> bool:
    return isinstance(file.parent(call), cst.Expr)


def _is_called_before(file: File, use: cst.CSTNode, move: cst.CSTNode) -> bool:
    """Return whether the function of a call is also called, in the same function, above a move."""
    function = file.function_of(use)
    if not isinstance(use, cst.Call):
        return False
    above = file.place_of(move).line
    return any(
        file.place_of(each).line < above
        for each in file.within(function or file.module)
        if isinstance(each, cst.Call)
        and file.function_of(each) is function
        and file.code(each.func) == file.code(use.func)
    )
