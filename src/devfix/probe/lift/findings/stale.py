"""Caches that serve the tensors of one device to a call whose inputs lie on another.

Test code runs first with its tensors on another GPU than the one they lie on otherwise (a warm-up), then as always.
What the code under test made during a warm-up and still has is on the other GPU: a cache that does not ask for the
device. Modules are warmed up before test code first calls them, too (first_calls.py).
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ...provenance import records
from ...simulation.patching import undo_with
from .. import boundaries, devices
from ..creation_places import made_at
from . import suite_state

OTHER = 0  # the GPU of a warm-up
_begun: list[int] = []  # the moments of the warm-ups' calls
_ended: list[int] = []
warmed: set[int] = set()  # modules of the test at hand


class _Phase:
    """The state of warm-ups in this process: whether tests have one, and whether one runs."""

    wanted = False
    index = 0  # of the GPU on which the tensors lie otherwise


def is_wanted() -> bool:
    """Return whether tests are warmed up in this process."""
    return _Phase.wanted


def aim(is_warm_up: bool) -> None:
    """Let test code's tensors lie on the GPU of a warm-up, or on the other one."""
    warmed.clear()
    devices.aim(OTHER if is_warm_up else _Phase.index)


@contextmanager
def calls() -> Iterator[None]:
    """Take down that what is made now is made in a warm-up."""
    _begun.append(_moment())
    _ended.append(sys.maxsize)
    try:
        yield
    finally:
        _ended[-1] = _moment()


def _moment() -> int:
    records.leave_out(1)
    return next(records.moments)


def served_location(frame: FrameType | None, values: Any) -> dict[str, Any] | None:
    """Return where one of some tensors was made that a warm-up has left to the code under test."""
    call = boundaries.boundary(frame)
    for event in _creation_events(values):
        place = made_at(event[records.STACK])
        if place is not None and not _is_of_suite(call, event):
            return {"path": place[0], "line": place[1], "function": place[2]}
    return None


def is_kept_by_suite(frame: FrameType | None, values: Any) -> bool:
    """Return whether one of some tensors is what a warm-up has left to test code."""
    call = boundaries.boundary(frame)
    return any(_is_of_suite(call, event) for event in _creation_events(values))


def _creation_events(values: Any) -> Iterator[records.Event]:
    """Yield of each tensor that a warm-up has left on its GPU the event that made it."""
    if not _begun or devices.target().index == OTHER:
        return
    for value in tree_leaves(values):
        if isinstance(value, torch.Tensor) and devices.is_on_gpu(value) and value.device != devices.target():
            event = _creation_event(value)
            if event is not None:
                yield event


def _creation_event(value: Any) -> records.Event | None:
    """Return the event of a warm-up that made a tensor: its creation, or the first step from what was there before.

    What was created on the host, and moved by the code under test, is on the other GPU since that move.
    """
    history = records.of(value)
    if history is None or history[records.CREATION] is None:
        return None
    event, move = history[records.CREATION], history[records.MOVE]
    if move is not None and _is_of_warm_up(move[records.MOMENT]) and made_at(move[records.STACK]) is not None:
        return move  # type: ignore[no-any-return]
    if _is_of_warm_up(event[records.MOMENT]):
        return event  # type: ignore[no-any-return]
    found, event = None, history[records.LAST]
    while event is not None and event[records.MOMENT] > _begun[0]:
        if _is_of_warm_up(event[records.MOMENT]):
            found = event
        event = event[records.PREVIOUS]
    return found


def _is_of_suite(call: FrameType | None, event: records.Event) -> bool:
    """Return whether test code passes or keeps what an event made: its author would have moved it."""

    def is_it(value: torch.Tensor) -> bool:
        return records.creation_moment(value) == event[records.MOMENT] or _creation_event(value) == event

    return (call is not None and boundaries.gives(call, is_it)) or suite_state.keeps(is_it)


def _is_of_warm_up(moment: int) -> bool:
    at = bisect_right(_begun, moment) - 1
    return at >= 0 and moment < _ended[at]


def install(index: int) -> None:
    """Warm up from now on: tensors of test code lie on this GPU otherwise."""
    _Phase.wanted, _Phase.index = True, index
    undo_with(_withdraw)


def _withdraw() -> None:
    _Phase.wanted = False
