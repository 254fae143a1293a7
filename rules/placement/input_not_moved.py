"""A tensor from outside is handed to code on another device without being moved."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    FixSite,
    Operand,
    Sources,
    blamed_operand,
    describe,
    fix_sites,
    frame_of,
    is_intentional,
    loop_variable_frame,
    misplaced_operands,
    move_argument,
    move_container,
    move_result,
    was_moved_to,
)

# Births at which a tensor comes in from outside.
READ = ("numpy", "load")


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that nobody moved; or one that was, where a parameter that it meets was moved elsewhere."""
    for index, operand, peer in misplaced_operands(failure):
        if operand.owner is not None and operand.owner.kind in ("parameter", "buffer"):
            continue
        if is_intentional(failure, operand) and not _went_elsewhere(peer):
            continue
        moved = "but" if is_intentional(failure, operand) else "and was never moved, while"
        reason = f"{describe(operand)} is on {operand.device}, {moved} it meets a tensor on {peer.device}."
        return Finding(index, reason, strength=3)
    return None


def _went_elsewhere(peer: Operand) -> bool:
    """Whether somebody moved a module's tensor to the host on purpose, so that its inputs must follow it."""
    return peer.owner is not None and was_moved_to(peer, "cpu") is not None and peer.device == "cpu"


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move it where it first comes into reach of a device: where it is read or returned, else where it is handed on.

    What stands further down than the first such place may leave another use of the tensor where it was.
    """
    found = False
    places = list(_places(diagnosis))
    turned = loop_variable_frame(diagnosis, source)
    if turned is not None:
        places = [spot for spot in places if spot.frame is not None and spot.frame >= turned]
    # Functions that are over made the tensor, and often for others too; those that still run hand it on.
    for spot in sorted(places, key=lambda spot: frame_of(diagnosis.failure, spot.place) is None):
        changes = list(_moved_at(diagnosis, spot, source))
        yield from (replace(change, safety="unsure") if found else change for change in changes)
        found = found or bool(changes)


def _places(diagnosis: Diagnosis) -> Iterator[FixSite]:
    operand = blamed_operand(diagnosis)
    # A move that somebody meant is not undone: what comes before it was right when it ran.
    meant = is_intentional(diagnosis.failure, operand)
    for spot in fix_sites(diagnosis):
        read = spot.kind == "birth" and operand.creation is not None and operand.creation.kind in READ
        if spot.kind in ("handover", "use") or (not meant and (read or spot.kind in ("returned", "derived"))):
            yield spot


def _moved_at(diagnosis: Diagnosis, spot: FixSite, source: Sources) -> Iterator[Change]:
    if spot.kind in ("handover", "use"):
        yield from move_argument(diagnosis, spot, source)
        yield from move_container(diagnosis, spot, source)
    else:
        yield from move_result(diagnosis, spot, source)
