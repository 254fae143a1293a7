"""A tensor from outside is handed to code on another device without being moved."""

from collections.abc import Iterator

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    argument_moved,
    describe,
    result_moved,
    spots,
    strangers,
    was_moved_to,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand that came from another function than the failing one and that nobody moved."""
    for index, operand, peer in strangers(failure):
        if operand.owner is not None or was_moved_to(operand, operand.device.split(":")[0]):
            continue
        because = f"{describe(operand)} is on {operand.device} since it was made and was never moved to {peer.device}."
        return Blame(index, because, strength=2)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move it where it first comes into reach of a device: where it is returned, else where it is handed on."""
    for spot in spots(diagnosis):
        if spot.kind in ("returned", "derived"):
            yield from result_moved(diagnosis, spot, source)
        elif spot.kind in ("handover", "use"):
            yield from argument_moved(diagnosis, spot, source)
