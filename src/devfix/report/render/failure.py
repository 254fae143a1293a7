"""The record of one failure: its place, its operands, and where each was created and moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from devfix.model import Diagnosis, Event, Failure, NameRef, Operand, SourceLocation
from devfix.report.render.source_lines import Lines


def failure_record(failure: Failure, diagnoses: Sequence[Diagnosis], lines: Lines) -> dict[str, Any]:
    """Return the record of a failure with the finding of each rule."""
    return {
        "kind": failure.kind,
        "exception": failure.exception,
        "message": failure.message,
        "op": failure.op,
        "thread": failure.thread,
        "at": place_record(failure.at, lines) if failure.at else None,
        "operands": [_operand(operand, failure, lines) for operand in failure.operands],
        "blamed": [
            {
                "rule": diagnosis.rule,
                "title": diagnosis.title,
                "operand": diagnosis.finding.operand,
                "because": diagnosis.finding.reason,
            }
            for diagnosis in diagnoses
        ],
        "traceback": failure.traceback,
    }


def place_record(place: SourceLocation, lines: Lines) -> dict[str, Any]:
    """Return the record of a source location, with its line of source."""
    return {
        "path": place.path,
        "line": place.line,
        "function": place.function,
        "owned": place.owned,
        "source": lines(place.path, place.line).strip(),
    }


def operand_name(operand: Operand, failure: Failure) -> str:
    """Return the operand's name in the deepest frame of the repository, else the name of the module attribute.

    An operand without a name is called by the operator's argument.
    """

    def order(held: NameRef) -> tuple[bool, bool, int, int]:
        owned = 0 <= held.frame < len(failure.frames) and failure.frames[held.frame].place.owned
        return (not owned, held.relation != "same", -held.frame, len(held.expression))

    if operand.names:
        return min(operand.names, key=order).expression
    if operand.owner:
        return f"{operand.owner.expression}.{operand.owner.attribute}"
    return operand.argument


def _operand(operand: Operand, failure: Failure, lines: Lines) -> dict[str, Any]:
    return {
        "name": operand_name(operand, failure),
        "argument": operand.argument,
        "device": operand.device,
        "dtype": operand.dtype,
        "shape": list(operand.shape),
        "held_as": operand.owner.kind if operand.owner else "",
        "born": _event(operand.creation, lines) if operand.creation else None,
        "moves": [_event(move, lines) for move in operand.transfers],
    }


def _event(event: Event, lines: Lines) -> dict[str, Any]:
    """Return the record of an event, at its place in the repository, else at the innermost one outside of torch."""
    place = event.owned_place or (event.places[0] if event.places else None)
    where = (
        place_record(place, lines) if place else {"path": "", "line": 0, "function": "", "owned": False, "source": ""}
    )
    return {**where, "kind": event.kind, "op": event.op, "device": event.device}
