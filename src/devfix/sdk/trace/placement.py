"""Find the code that placed the operands on their devices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from devfix.model import Diagnosis, Event, Failure, Operand, SourceLocation
from devfix.sdk.trace.history import frame_of
from devfix.sdk.trace.operands import blamed_operand, misplaced_operands


def last_placement(operand: Operand) -> Event | None:
    """Return the event that put an operand on its device: its last move, else its creation.

    >>> last_placement(failure.operands[1]).op
    'aten::arange'
    """
    return operand.transfers[-1] if operand.transfers else operand.creation


def explicitly_placed(failure: Failure) -> list[tuple[int, Operand, SourceLocation]]:
    """Return the operands that owned code placed, as (index, operand, location), likeliest to be wrong first.

    They are those of `misplaced_operands` that no module holds. Operands placed deeper in the stack come first, since
    they are there for this use only.

    >>> [(operand.argument, place.line) for _, operand, place in explicitly_placed(failure)]
    [('other', 11)]
    """
    found = []
    for index, operand, _ in misplaced_operands(failure):
        placed = last_placement(operand)
        place = placed.owned_place if placed is not None else None
        if place is not None and operand.owner is None:
            found.append((index, operand, place))
    return sorted(found, key=lambda each: -(frame_of(failure, each[2]) or 0))


def placement_locations(diagnosis: Diagnosis) -> list[SourceLocation]:
    """Return where the blamed operand was put on its device, innermost first; without operands, the owned stack.

    >>> [place.line for place in placement_locations(diagnosis) if place.owned][:1]
    [11]
    """
    if not diagnosis.failure.operands:
        return [frame.place for frame in reversed(diagnosis.failure.owned_frames)]
    placed = last_placement(blamed_operand(diagnosis))
    return list(placed.places) if placed is not None else []


def placement_targets(diagnosis: Diagnosis) -> Iterator[Diagnosis]:
    """Yield the diagnosis, then one for each other operand that owned code placed.

    >>> [each.finding.operand for each in placement_targets(diagnosis)]
    [1]
    """
    yield diagnosis
    for index, _, _ in explicitly_placed(diagnosis.failure):
        if index != diagnosis.finding.operand:
            yield replace(diagnosis, finding=replace(diagnosis.finding, operand=index))
