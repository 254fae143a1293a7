"""Silent findings of a lifted test: tensors that a user would expect on another device.

Results that the code under test leaves on the host although it was given tensors on a GPU alone, tensors that a module
keeps where `.to` does not see them, and those that a cache serves. They are noted where somebody meets them: test code,
with a tensor on the GPU or to read the values, and a method of the module, in an operator that CUDA lets pass.
In a strict run the test fails there, as an operator does whose tensors are on two devices.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ...provenance import records
from ...provenance.places import resolve_path
from ...simulation import hooks
from ...simulation.accelerators import messages
from ...simulation.patches.compilation.scripting import script_calls
from ...simulation.patching import undo_with, wrap
from .. import boundaries, constants, creations, devices, words
from ..creation_places import made_at
from ..given import Given
from ..whose import Whose, asks, nearest
from . import kept, private, stale
from .taken import find_taken

RESULT_ON_HOST, NOT_MOVED, STALE_CACHE = "result-on-host", "not-moved", "stale-cache"
_READS = ("item", "tolist", "__float__", "__int__", "__bool__", "__repr__")  # hosts.py has those to arrays
_MOST = 20  # of one test
_found: dict[tuple[Any, ...], dict[str, Any]] = {}


class _Mode:
    """The findings that fail the test: those of these places (path, and line or function), or all."""

    strict = False
    places: tuple[tuple[str, str], ...] = ()


def is_strict() -> bool:
    """Return whether a test fails by what is found."""
    return _Mode.strict


def look(values: Iterable[Any], is_read: bool = False) -> bool:
    """Note which of some tensors, put together by test code or read and compared by it, it would expect elsewhere.

    Returns whether the test fails by it, in a strict run.
    """
    found = [value for value in values if isinstance(value, torch.Tensor) and _look(value, is_read)]
    return bool(found) and _Mode.strict


def look_taken(values: Iterable[Any]) -> bool:
    """Note which of the tensors that an operator of test code refuses the code under test has taken to the host."""
    found = [taken for value in values if (taken := find_taken(value))]
    noted = [note(RESULT_ON_HOST, place, call, "") for place, call in found]
    return any(noted) and _Mode.strict


def note_served(place: dict[str, Any]) -> bool:
    """Note where a tensor was made that a cache serves to another device; return as `note` does."""
    path, line, function = place["path"], place["line"], place["function"]
    return note(STALE_CACHE, (path, line, function), creations.Call(function, path, line), "")


def _look(value: torch.Tensor, is_read: bool) -> bool:
    if place := stale.served_location(None, value):
        return note_served(place)
    if value.device.type != "cpu":
        return False
    moment = records.creation_moment(value)
    holder = kept.anywhere(moment) if moment is not None else None
    if holder is not None:
        # A test may look at the attribute itself, and at what it computes of it; the rest came from a method.
        return (not is_read or _is_computed(value, holder)) and _note_kept(value, holder, None)
    creation = boundaries.result_creation(value)
    if creation is None or (is_read and words.counts_sizes(creation.path, creation.line)):
        return False
    return not private.is_looked_up(value, creation) and note_result(creation)


def note_result(creation: creations.Creation, attribute: str = "") -> bool:
    """Note a tensor that a call given tensors on a GPU alone has left on the host; return as `note` does."""
    if creation.given != Given.GPU or creation.is_chosen:
        return False
    place = (creation.path, creation.line, creation.function)
    return note(RESULT_ON_HOST, place, creation.call, attribute, creation.is_told)


def _note_meeting(args: Any, kwargs: Any) -> None:
    """Note what somebody puts together with tensors on the GPU, as CUDA lets him."""
    frame = sys._getframe(1)
    whose = nearest(frame, past=Whose.PROBE)
    values = tree_leaves((args, kwargs))
    fails = False
    if whose == Whose.TEST and not script_calls.depth:
        # A backward pass that test code starts puts together what the forward pass of the code under test has saved.
        fails = torch._C._current_graph_task_id() == -1 and look(values)
    elif whose == Whose.CODE:
        for value in _of_host(values):
            moment = records.creation_moment(value)
            holder = kept.methods(frame, moment) if moment is not None else None
            if holder is not None:
                call = boundaries.boundary(frame)
                noted = _note_kept(value, holder, None if call is None else boundaries.called_function(call))
                fails = fails or (noted and _Mode.strict)
    if fails:
        raise messages.two_devices(devices.target(), "cpu")


def _of_host(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    return (each for each in values if isinstance(each, torch.Tensor) and each.device.type == "cpu")


def _is_computed(value: Any, holder: kept.Kept) -> bool:
    """Return whether the code under test has computed a value of what a module keeps since its move.

    What it writes to the tensor that is kept, such as a count, is not computed of it.
    """
    since = max(holder.arrived, records.of(holder.tensor)[records.LAST][records.MOMENT])  # type: ignore[index]
    event = records.of(value)[records.LAST]  # type: ignore[index]
    while event is not None and event[records.MOMENT] > since:
        if made_at(event[records.STACK]) is not None:
            return True
        event = event[records.PREVIOUS]
    return False


def _note_kept(value: Any, holder: kept.Kept, call: creations.Call | None) -> bool:
    creation = records.of(value)[records.CREATION]  # type: ignore[index]
    place = made_at(creation[records.STACK], holder.kind)
    if place is None or words.class_says(holder.kind) or constants.is_number(holder.tensor):
        return False
    call = call or creations.Call(holder.module, place[0], place[1])
    return note(NOT_MOVED, place, call, f"{holder.module}.{holder.attribute}")


def note(kind: str, place: tuple[str, int, str], call: creations.Call, attribute: str, is_told: bool = False) -> bool:
    """Note a finding; return whether a strict run, if this is one, fails by it."""
    path, line, function = place
    if len(_found) < _MOST:
        told = {"kind": kind, "path": path, "line": line, "function": function, "attribute": attribute}
        entered = {"path": call.path, "line": call.line}
        by = {"call": call.name, "entered": entered, "is_told": is_told}
        _found.setdefault((kind, path, line), {**told, **by})
    return fails_at(path, line, function)


def fails_at(path: str, line: int, function: str) -> bool:
    """Return whether a strict run fails by what is found at a place."""
    path = resolve_path(path)  # with `pythonpath = ..` a module's file is /repository/tests/../library.py
    return not _Mode.places or (path, str(line)) in _Mode.places or (path, function) in _Mode.places


def take() -> list[dict[str, Any]]:
    """Return what the test at hand has shown, and forget it."""
    found = list(_found.values())
    _found.clear()
    return found


def fail(name: str, value: Any) -> None:
    """Raise what an operator raises that meets a tensor together with one on the GPU; `name` is the function's."""
    value, peer = _source(value), boundaries.peer_of(value)
    peer = torch.empty(0, device=devices.target()) if peer is None else peer
    error = messages.two_devices(peer.device, value.device)
    hooks.failed(error, name, (peer, value), {})
    raise error


def _source(value: Any) -> Any:
    """Return the tensor of a module from which a value was computed, or the value: that one has an owner to repair."""
    moment = records.creation_moment(value)
    holder = kept.anywhere(moment) if moment is not None else None
    return value if holder is None else holder.tensor


def is_looked_at(value: Any) -> bool:
    """Return whether a tensor may be one that is where test code does not expect it."""
    return not devices.is_on_gpu(value) or stale.is_wanted()


def check(value: Any, name: str) -> None:
    """Note what test code reads with a method of a tensor; in a strict run, fail."""
    if look((value,), is_read=True):
        fail(f"torch.Tensor.{name}", value)


def _read(original: Any) -> Any:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_looked_at(self) and asks(1) == Whose.TEST:
            check(self, original.__name__)
        return original(self, *args, **kwargs)

    return call


def install(is_strict: bool, at: tuple[tuple[str, str], ...]) -> None:
    """Watch where tensors of two devices meet, and what test code reads."""
    _Mode.strict, _Mode.places = is_strict, at
    for name in _READS:
        wrap(torch.Tensor, name, _read)
    before, hooks.mixed = hooks.mixed, _note_meeting

    def restore() -> None:
        hooks.mixed = before

    undo_with(restore)
