"""List the places at which an edit could fix the blamed tensor, in the order of the data flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from devfix.model import Diagnosis, Failure, ScopeVariable, SourceLocation
from devfix.sdk.trace.derived import derived_in_frame
from devfix.sdk.trace.history import function_at, loop_event, preserves_data
from devfix.sdk.trace.operands import blamed_operand, names_in
from devfix.source.queries.reading import is_comprehension

SiteKind = Literal["creation", "returned", "derived", "argument", "use", "construction"]


@dataclass(frozen=True)
class FixSite:
    """A place in the blamed tensor's history.

    `kind` is "creation" (owned code calls the factory), "returned" (a call in owned code that returns the new tensor),
    "derived" (a cast or view), "argument" (an argument of a call), "use" (the failing expression) or "construction" (of
    a module). `expressions` name the tensor at arguments and uses; elsewhere it is the whole expression at the
    location. `scope` has the variables that were recorded there.
    """

    kind: SiteKind
    place: SourceLocation
    scope: tuple[ScopeVariable, ...]
    expressions: tuple[str, ...] = ()
    frame: int | None = None


def fix_sites(diagnosis: Diagnosis) -> list[FixSite]:
    """Return every site in owned code: the creation first, the failing expression last."""
    return [*_creation_sites(diagnosis), *_history_sites(diagnosis)]


def scope_at(failure: Failure, place: SourceLocation) -> tuple[ScopeVariable, ...]:
    """Return the variables known at a location: recorded by a second run, or in a frame of the same function."""
    records = [(seen, scope) for seen, scope in failure.scopes if function_at(seen) == function_at(place)]
    here = next((scope for seen, scope in records if seen.line == place.line), None)
    if here is not None:
        return here
    same = [frame for frame in reversed(failure.frames) if function_at(frame.place) == function_at(place)]
    # A comprehension with a frame of its own sees less than the function around it.
    own = is_comprehension(place.function)
    same.sort(key=lambda frame: is_comprehension(frame.place.function) != own)
    frames = (frame.scope for frame in same)
    return next(filter(None, (*frames, *(scope for _, scope in records))), ())


def locations_without_scope(failure: Failure) -> Iterator[SourceLocation]:
    """Yield the owned locations in the operands' histories without a recorded scope, for a second run."""
    functions = {function_at(frame.place) for frame in failure.frames if frame.scope}
    lines = {(place.path, place.line) for place, _ in failure.scopes}
    for operand in failure.operands:
        for event in operand.history:
            for place in event.places:
                if place.owned and function_at(place) not in functions and (place.path, place.line) not in lines:
                    lines.add((place.path, place.line))
                    yield place


def _creation_sites(diagnosis: Diagnosis) -> Iterator[FixSite]:
    operand = blamed_operand(diagnosis)
    # A loop yields a new tensor in each iteration, so nothing before the loop is its creation.
    out = loop_event(diagnosis.failure, operand)
    creation = operand.creation if not out else None
    # A call in progress has not returned; without columns two calls on one line are indistinguishable.
    under_way = {frame.place for frame in diagnosis.failure.frames if frame.place.column is not None}
    for depth, place in enumerate(creation.places if creation else ()):
        if place.owned and not (depth and place in under_way):
            yield FixSite("returned" if depth else "creation", place, scope_at(diagnosis.failure, place))


def _history_sites(diagnosis: Diagnosis) -> Iterator[FixSite]:
    failure, operand = diagnosis.failure, blamed_operand(diagnosis)
    made = [number for number, event in enumerate(operand.history) if not preserves_data(event)]
    since = operand.history[max([loop_event(failure, operand) or 0, *made]) + 1 :]
    derived = [
        FixSite("derived", event.owned_place, scope_at(failure, event.owned_place))
        for event in since
        # A tensor derived within the failing expression cannot be fixed before it.
        if event.owned_place is not None and event.owned_place != failure.at
    ]
    owned = [index for index, frame in enumerate(failure.frames) if frame.place.owned]
    first = {function_at(failure.frames[index].place): index for index in reversed(owned)}
    yield from (site for site in derived if function_at(site.place) not in first)
    for index in owned:
        frame = failure.frames[index]
        yield from (site for site in derived if first.get(function_at(site.place)) == index)
        named = [held.expression for held in names_in(operand, index)]
        expressions = tuple(
            dict.fromkeys([*named, *(each.expression for each in derived_in_frame(failure, operand, index))])
        )
        kind: SiteKind = "use" if index == owned[-1] else "argument"
        yield FixSite(kind, frame.place, _scope_around(failure, index), expressions, index)


def _scope_around(failure: Failure, index: int) -> tuple[ScopeVariable, ...]:
    """Return the scope of a frame, with that of the function for a comprehension's own frame (until Python 3.11)."""
    frame = failure.frames[index]
    seen = {each.expression for each in frame.scope}
    others: list[ScopeVariable] = []
    if is_comprehension(frame.place.function):
        around = [each for each in failure.frames[:index] if function_at(each.place) == function_at(frame.place)]
        others = [each for each in (around[-1].scope if around else ()) if each.expression not in seen]
    return (*frame.scope, *others)
