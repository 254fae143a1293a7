"""Query a tensor's history: the event that created its data, running calls, and loops that yielded it."""

from __future__ import annotations

import re
from collections.abc import Container

from devfix.model import Event, Failure, Operand, SourceLocation
from devfix.sdk.trace.operands import creation_location
from devfix.source.queries.reading import enclosing

# The result has the same data as the argument: a cast, a copy, another shape. Views are known by their event kind.
SAME_DATA = re.compile(
    r"(^|[:.])(_to_copy|to|clone|contiguous|detach|float|half|double|long|int|bool|bfloat16|type_as|alias|lift\w*|"
    r"parameter|deepcopy|data|_unsafe_view|_reshape_(alias|copy))$"
)


def preserves_data(event: Event) -> bool:
    """Return whether an event preserved a tensor's data: a view, a cast, a move.

    >>> [preserves_data(Event("op", f"aten::{op}", "cpu")) for op in ("_to_copy", "mul")]
    [True, False]
    """
    return event.kind in ("view", "move") or SAME_DATA.search(event.op) is not None


def last_data_event(operand: Operand) -> Event | None:
    """Return the last event that created new data: the creation, or an operator that is not a view, cast or move.

    >>> last_data_event(failure.operands[1]).op
    'aten::arange'
    """
    made = [event for event in operand.history if not preserves_data(event)]
    return made[-1] if made else operand.creation


def frame_of(failure: Failure, place: SourceLocation) -> int | None:
    """Return the number of the deepest frame that still runs the function at a location; None if none does.

    >>> failure.frames[frame_of(failure, failure.at)].place == failure.at
    True
    """
    for number in reversed(range(len(failure.frames))):
        running = failure.frames[number].place
        if running.owned and function_at(running) == function_at(place):
            return number
    return None


def function_at(place: SourceLocation) -> tuple[str, str]:
    """Return the file and function of a location; for a comprehension those of the function around it."""
    return place.path, enclosing(place.function)


def loop_event(failure: Failure, operand: Operand) -> int | None:
    """Return the number of the event by which a running loop yielded the operand, such as a loader's next batch.

    >>> loop_event(failure, failure.operands[0]) is None
    True
    """
    for number in reversed(range(len(operand.history))):
        for place in operand.history[number].places:
            frame = frame_of(failure, place) if place.loop else None
            if frame is not None and _is_in_body(place, failure.frames[frame].place):
                return number
    return None


def _is_in_body(loop: SourceLocation, running: SourceLocation) -> bool:
    """Return whether code runs in the body of a loop, and is not the loop itself, which fetches the next item."""
    (first, last), (begin, end) = _span(loop), _span(running)
    return running != loop and first <= begin and end <= last


def _span(place: SourceLocation) -> tuple[tuple[int, int], tuple[int, int]]:
    return (place.line, place.column or 0), (place.end_line or place.line, place.end_column or 0)


def is_created_in_reach(failure: Failure, operand: Operand, device: str, ignored: Container[str] = ()) -> bool:
    """Return whether the operand's creating function still runs, or had something on `device` in scope.

    The names that are `ignored` do not count.

    >>> is_created_in_reach(failure, failure.operands[1], "cuda:0")
    True
    """
    if is_created_where_used(failure, operand):
        return True
    place = creation_location(operand)
    if place is None or loop_event(failure, operand) is not None:
        return False
    scopes = [scope for seen, scope in failure.scopes if function_at(seen) == function_at(place)]
    return any(each.device == device and each.expression not in ignored for scope in scopes for each in scope)


def is_created_where_used(failure: Failure, operand: Operand) -> bool:
    """Return whether the operand's creating function still runs, with all calls in between, and no loop yielded it.

    >>> [is_created_where_used(failure, each) for each in failure.operands]
    [True, True]
    """
    if not operand.history or loop_event(failure, operand) is not None:
        return False
    made = [event for event in operand.history if not preserves_data(event)] or operand.history[:1]
    return all(event.places and frame_of(failure, event.places[0]) is not None for event in made)
