"""A function knows the device, and hands out a result that it computed on another."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Change,
    Diagnosis,
    Event,
    Failure,
    Finding,
    FixSite,
    Operand,
    SourceLocation,
    Sources,
    blamed_operand,
    describe,
    frame_of,
    is_intentional,
    misplaced_operands,
    move_result,
    on_device,
    preserves_data,
    scope_at,
    target_device,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that a function now over computed where a name for the right device was at hand."""
    for index, operand, peer in misplaced_operands(failure):
        places = _places(failure, operand, peer.device)
        if not places or operand.owner is not None or is_intentional(failure, operand):
            continue
        place = places[0]
        reason = (
            f"{describe(operand)} was computed on {operand.device} in {place.path}:{place.line}, where"
            f" `{_name(failure, place, peer.device)}` says {peer.device}."
        )
        return Finding(index, reason, strength=4)
    return None


def _places(failure: Failure, operand: Operand, device: str) -> list[SourceLocation]:
    """Where functions that are over computed new data on its way with a name for the device at hand, the last first."""
    found = (event.owned_place for event in reversed(operand.history[1:]) if _computes(event))
    return [each for each in found if each and frame_of(failure, each) is None and _name(failure, each, device)]


def _computes(event: Event) -> bool:
    return event.kind == "op" and not preserves_data(event)


def _name(failure: Failure, place: SourceLocation, device: str) -> str:
    """What names the device at a place, where "cuda" without an index means the current GPU; "" for nothing."""
    scope, kind = scope_at(failure, place), device.partition(":")[0]
    named = [each for say in (device, kind) for each in on_device(scope, say, "device", "string")]
    return named[0].expression if named else ""


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the result to the device that the function knows, where it is computed."""
    failure = diagnosis.failure
    for place in _places(failure, blamed_operand(diagnosis), target_device(diagnosis)):
        spot = FixSite("derived", place, scope_at(failure, place))
        yield from (replace(change, safety="likely") for change in move_result(diagnosis, spot, source))
