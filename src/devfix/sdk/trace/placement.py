"""Who put the operands where they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from devfix.model import Diagnosis, Event, Failure, Operand, Place
from devfix.sdk.trace.history import frame_of
from devfix.sdk.trace.operands import blamed, strangers


def placing(operand: Operand) -> Event | None:
    """The event that put an operand on its device: its last move, else its birth.

    >>> placing(failure.operands[1]).op
    'aten::arange'
    """
    return operand.moves[-1] if operand.moves else operand.birth


def placed_by_code(failure: Failure) -> list[tuple[int, Operand, Place]]:
    """The operands that owned code put where they are, as (index, operand, place), likeliest to be wrong first.

    They are those of `strangers` that no module holds; what was placed deeper in the stack comes first, since it is
    there for this use alone.

    >>> [(operand.argument, place.line) for _, operand, place in placed_by_code(failure)]
    [('other', 11)]
    """
    found = []
    for index, operand, _ in strangers(failure):
        placed = placing(operand)
        place = placed.owned_place if placed is not None else None
        if place is not None and operand.owner is None:
            found.append((index, operand, place))
    return sorted(found, key=lambda each: -(frame_of(failure, each[2]) or 0))


def placing_places(diagnosis: Diagnosis) -> list[Place]:
    """Where the blamed operand was put on its device, innermost place first; without operands, the owned stack.

    >>> [place.line for place in placing_places(diagnosis) if place.owned][:1]
    [11]
    """
    if not diagnosis.failure.operands:
        return [frame.place for frame in reversed(diagnosis.failure.owned_frames)]
    placed = placing(blamed(diagnosis))
    return list(placed.places) if placed is not None else []


def aimed(diagnosis: Diagnosis) -> Iterator[Diagnosis]:
    """Yield the diagnosis, then one for each other operand that owned code put where it is.

    >>> [each.blame.operand for each in aimed(diagnosis)]
    [1]
    """
    yield diagnosis
    for index, _, _ in placed_by_code(diagnosis.failure):
        if index != diagnosis.blame.operand:
            yield replace(diagnosis, blame=replace(diagnosis.blame, operand=index))
