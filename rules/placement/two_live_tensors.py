"""Two tensors that live on different devices meet: masks, weights, thresholds and indices follow the data."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    argument_moved,
    describe,
    is_meant,
    list_moved,
    spots,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame the operand that was never put where it is, else the one that is no parameter."""
    for index, operand, peer in strangers(failure):
        held = operand.owner is not None and operand.owner.kind in ("parameter", "buffer")
        if held and not is_meant(failure, operand):
            continue
        because = (
            f"{describe(operand)} is on {operand.device} and meets a tensor on {peer.device}, which it should follow."
        )
        return Blame(index, because, strength=5)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move it where it is used, and else where it is handed in, from the inside outward."""
    found = False
    for spot in reversed(spots(diagnosis)):
        if spot.kind in ("use", "handover"):
            for each in (*list_moved(diagnosis, spot, source), *argument_moved(diagnosis, spot, source)):
                yield replace(each, safety="unsure" if found else "likely")
                found = True
