"""A tensor from outside is handed to code on another device without being moved."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    argument_moved,
    blamed,
    describe,
    result_moved,
    spots,
    strangers,
    was_moved_to,
)

# Births at which a tensor comes in from outside; what code makes for itself is another rule's matter.
READ = ("numpy", "load")


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand that came from another function than the failing one and that nobody moved."""
    for index, operand, peer in strangers(failure):
        if operand.owner is not None or was_moved_to(operand, operand.device.split(":")[0]):
            continue
        because = f"{describe(operand)} is on {operand.device} since it was made and was never moved to {peer.device}."
        return Blame(index, because, strength=2)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move it where it first comes into reach of a device: where it is read or returned, else where it is handed on.

    What stands further down than the first such place may leave another use of the tensor where it was.
    """
    birth = blamed(diagnosis).birth
    found = False
    for spot in spots(diagnosis):
        changes: list[Change] = []
        if spot.kind in ("returned", "derived") or (spot.kind == "birth" and birth and birth.kind in READ):
            changes = list(result_moved(diagnosis, spot, source))
        elif spot.kind in ("handover", "use"):
            changes = list(argument_moved(diagnosis, spot, source))
        yield from (replace(change, safety="unsure") if found else change for change in changes)
        found = found or bool(changes)
