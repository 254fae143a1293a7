"""Write records in the form of the trace: events oldest first, variables, and equality of data."""

from __future__ import annotations

import os
from types import FunctionType
from typing import Any

import torch

from ..provenance import places, records
from ..provenance.records import COPY, DEVICE, FROM, LAST, MOMENT, PREVIOUS, STACK, WHAT, Event
from ..simulation.operator_tables import operators
from ..simulation.tensors.tensor import sizes
from .instances import classes, qualified_type
from .members import is_a
from .scope import Held, device_of


def history(value: Any) -> list[dict[str, Any]]:
    """Write the history of a tensor or module: its creation, last move and last steps, oldest first."""
    known = records.of(value)
    if known is None:
        return []
    last, creation, move, _ = known
    events = {event[MOMENT]: event for event in _chain(last)}
    for event in (creation, move):
        if event is not None:
            events.setdefault(event[MOMENT], event)
    device = _device(value)
    described: list[dict[str, Any]] = []
    for moment in sorted(events, reverse=True):
        event = events[moment]
        described.append(_describe_event(event, event[DEVICE] or device))
        device = event[FROM] or device
    described.reverse()
    if creation is not None and creation[DEVICE] and described:
        described[0]["device"] = creation[DEVICE]
    return [event for event in described if event["kind"] != "unknown" or len(described) == 1]


def copy(value: Any) -> dict[str, Any] | None:
    """Return where a copy of the tensor was last made on another device, None if there is none."""
    known = records.of(value)
    event = None if known is None else known[COPY]
    return None if event is None else _describe_event(event, event[DEVICE])


def _device(value: Any) -> str:
    device = getattr(value, "device", None) if is_a(value, torch.Tensor) else None
    return str(device) if device is not None else device_of("module", value)


def _describe_event(event: Event, device: str) -> dict[str, Any]:
    what = event[WHAT]
    kind = "move" if event[FROM] is not None else "made" if what == "made" else operators.event_kind(what)
    if kind not in ("move", "op", "view") and event[STACK] and _loads(event[STACK][0]):
        kind = "load"
    if kind == "made" and device == "mixed":
        device = ""  # its parts were moved separately since
    return {
        "kind": kind,
        "op": operators.qualified_name(what),
        "device": device,
        "places": places.tell_all(event[STACK]),
    }


def _loads(code: Any) -> bool:
    return "safetensors" in code.co_filename.split(os.sep)


def _chain(event: Event | None) -> list[Event]:
    events = []
    while event is not None:
        events.append(event)
        event = event[PREVIOUS]
    return events


def same_data(value: Any) -> set[int]:
    """Return the moments of the events whose results have the same data as `value`: back through views and casts."""
    known = records.of(value)
    moments: set[int] = set()
    event = None if known is None else known[LAST]
    while event is not None:
        moments.add(event[MOMENT])
        if event[FROM] is not None or not operators.keeps_identity(event[WHAT]):
            break
        event = event[PREVIOUS]
    return moments


def computed_from(value: Any) -> set[int]:
    """Return the moments of the events that led to `value`, as far back as its history goes."""
    known = records.of(value)
    return set() if known is None else {event[MOMENT] for event in _chain(known[LAST])}


def moment(value: Any) -> int:
    """Return the moment of the tensor's newest event, 0 if unknown."""
    known = records.of(value)
    return 0 if known is None else int(known[LAST][MOMENT])


def binding(held: Held, known: dict[int, dict[str, Any]] | None = None) -> dict[str, Any]:
    """Write one expression in scope, with its creation and moves; `known` caches what was written before."""
    expression, kind, value = held
    described = None if known is None or kind in ("string", "index", "dictionary") else known.get(id(value))
    if described is None:
        described = _describe(kind, value)
        if known is not None:
            known[id(value)] = described
    return {"expression": expression, **described}


def _describe(kind: str, value: Any) -> dict[str, Any]:
    described: dict[str, Any] = {"kind": kind, "device": device_of(kind, value), "type": type(value).__name__}
    described["qualified_type"] = qualified_type(type(value))
    if kind == "tensor":
        described.update(dtype=str(value.dtype), shape=sizes(value))
    if kind in ("tensor", "module"):
        events = history(value)
        described["history"] = events[:1] + [event for event in events[1:] if event["kind"] == "move"]
    if kind in ("module", "object", "instance"):
        described["classes"] = classes(type(value))
    if kind == "object":
        described["history"] = _locate_class(type(value))
    return described


def _locate_class(kind: type) -> list[dict[str, Any]]:
    """Return the file that defines a class, as the location of its constructor or first method."""
    functions = [each for each in vars(kind).values() if type(each) is FunctionType]
    functions.sort(key=lambda each: each.__name__ != "__init__")
    codes = [each.__code__ for each in functions if not each.__code__.co_filename.startswith("<")]
    stack = [places.describe(code, 0, code.co_firstlineno) for code in codes[:1]]
    return [{"kind": "class", "op": kind.__qualname__, "device": "", "places": stack}] if stack else []
