"""A tensor from outside is handed to code on another device without being moved."""

from collections.abc import Iterator

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Operand,
    Sources,
    Spot,
    argument_moved,
    container_moved,
    describe,
    frame_of,
    is_meant,
    result_moved,
    spots,
    strangers,
    was_moved_to,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand that nobody moved; or one that was, where a parameter that it meets was moved elsewhere."""
    for index, operand, peer in strangers(failure):
        if operand.owner is not None and operand.owner.kind in ("parameter", "buffer"):
            continue
        if is_meant(failure, operand) and not _went_elsewhere(peer):
            continue
        moved = "but" if is_meant(failure, operand) else "and was never moved, while"
        because = f"{describe(operand)} is on {operand.device}, {moved} it meets a tensor on {peer.device}."
        return Blame(index, because, strength=3)
    return None


def _went_elsewhere(peer: Operand) -> bool:
    """Whether somebody moved a module's tensor to the host on purpose, so that its inputs must follow it."""
    return peer.owner is not None and was_moved_to(peer, "cpu") is not None and peer.device == "cpu"


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move it where it first comes into reach of a device: where it is returned, else where it is handed on."""
    places = [spot for spot in spots(diagnosis) if spot.kind in ("returned", "derived", "handover", "use")]
    # Functions that are over made the tensor, and often for others too; those that still run hand it on.
    for spot in sorted(places, key=lambda spot: frame_of(diagnosis.failure, spot.place) is None):
        yield from _moved_at(diagnosis, spot, source)


def _moved_at(diagnosis: Diagnosis, spot: Spot, source: Sources) -> Iterator[Change]:
    if spot.kind in ("returned", "derived"):
        yield from result_moved(diagnosis, spot, source)
    else:
        yield from argument_moved(diagnosis, spot, source)
        yield from container_moved(diagnosis, spot, source)
