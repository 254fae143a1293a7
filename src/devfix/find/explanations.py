"""Explain failures of tests: many tests fail alike, and rules take a tenth of a second for each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from devfix.find.causes import Explanation, explain_failure
from devfix.model import Event, Failure, Operand, ScopeVariable, SourceLocation
from devfix.registry import Rule
from devfix.sdk import Sources


class Explanations:
    """The explanations of one search: failures that agree in what rules look at have the same."""

    def __init__(self, rules: Sequence[Rule], sources: Sources) -> None:
        self._rules, self._sources = rules, sources
        self._known: dict[Hashable, Explanation] = {}

    def explain(self, failure: Failure) -> Explanation:
        """Return how the first rule explains a failure that finds something to change."""
        key = _key(failure)
        if key not in self._known:
            self._known[key] = explain_failure(failure, self._rules, self._sources)
        return self._known[key]


def _key(failure: Failure) -> Hashable:
    """Return what tells failures apart: where they run, what is in scope, and where tensors come from; not sizes."""
    frames = tuple((frame.place, _devices_in(frame.scope)) for frame in failure.frames)
    scopes = tuple((place, _devices_in(scope)) for place, scope in failure.scopes)
    operands = tuple(map(_of_operand, failure.operands))
    return failure.kind, failure.exception, failure.op, frames, scopes, operands


def _of_operand(operand: Operand) -> Hashable:
    events = tuple(map(_of_event, operand.history))
    copy = operand.copy and _of_event(operand.copy)
    names = (operand.names, operand.sources)
    return operand.argument, operand.device, operand.dtype, names, operand.owner, operand.holders, copy, events


def _of_event(event: Event) -> Hashable:
    places: tuple[SourceLocation, ...] = event.places
    return event.kind, event.op, event.device, places, _devices_in(event.scope)


def _devices_in(scope: Iterable[ScopeVariable]) -> Hashable:
    return tuple((each.expression, each.kind, each.type, each.device) for each in scope)
