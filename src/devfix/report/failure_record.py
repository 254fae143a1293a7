"""The record of one failure: its place, its operands, and where each was created and moved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict, TypeVar

from devfix.model import Diagnosis, Event, Failure, NameRef, Operand, SourceLocation, World
from devfix.report.failure_types import (
    EventRecord,
    FailureRecord,
    FindingRecord,
    OperandRecord,
    PlaceRecord,
    WorldRecord,
)
from devfix.report.source_lines import Lines

Place = TypeVar("Place", bound=PlaceRecord)


class PlaceMembers(TypedDict):
    """The members of a place, as those of a record that stands at it."""

    path: str
    line: int
    function: str
    owned: bool
    source: str


def failure_record(failure: Failure, diagnoses: Sequence[Diagnosis], lines: Lines) -> FailureRecord:
    """Return the record of a failure with the finding of each rule."""
    return FailureRecord(
        kind=failure.kind,
        exception=failure.exception,
        message=failure.message,
        op=failure.op,
        thread=failure.thread,
        at=PlaceRecord(**place_members(failure.at, lines)) if failure.at else None,
        operands=tuple(_operand(operand, failure, lines) for operand in failure.operands),
        findings=tuple(
            FindingRecord(rule=each.rule, title=each.title, operand=each.finding.operand, reason=each.finding.reason)
            for each in diagnoses
        ),
        traceback=failure.traceback,
    )


def seen_from(failure: FailureRecord, folder: str) -> FailureRecord:
    """Return a failure with its paths relative to a folder of the repository, as an editor's terminal opens them."""
    return replace(
        failure,
        at=place_from(failure.at, folder) if failure.at else None,
        operands=tuple(
            replace(
                operand,
                creation=place_from(operand.creation, folder) if operand.creation else None,
                transfers=tuple(place_from(each, folder) for each in operand.transfers),
            )
            for operand in failure.operands
        ),
    )


def place_from(place: Place, folder: str) -> Place:
    """Return a place with its path relative to a folder of the repository; absolute paths stay."""
    if not place.path or os.path.isabs(place.path):
        return place
    return replace(place, path=os.path.relpath(place.path, folder))


def world_record(world: World) -> WorldRecord:
    """Return a world."""
    return WorldRecord(kind=world.kind, gpus=world.gpus, current=world.current, device=world.device)


def place_members(place: SourceLocation, lines: Lines) -> PlaceMembers:
    """Return the record of a source location, with its line of source."""
    return {
        "path": place.name,
        "line": place.line - place.cell_start,
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


def _operand(operand: Operand, failure: Failure, lines: Lines) -> OperandRecord:
    return OperandRecord(
        name=operand_name(operand, failure),
        argument=operand.argument,
        device=operand.device,
        dtype=operand.dtype,
        shape=operand.shape,
        owner_kind=operand.owner.kind if operand.owner else "",
        creation=_event(operand.creation, lines) if operand.creation else None,
        transfers=tuple(_event(each, lines) for each in operand.transfers),
    )


def _event(event: Event, lines: Lines) -> EventRecord:
    """Return the record of an event, at its place in the repository, else at the innermost one outside of torch."""
    place = event.owned_place or (event.places[0] if event.places else SourceLocation("", 0))
    return EventRecord(**place_members(place, lines), kind=event.kind, op=event.op, device=event.device)
