"""Tensors that come together are handed, one by one, to code on another device without being moved."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    describe,
    fix_sites,
    is_intentional,
    misplaced_operands,
    move_batch,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that nobody moved, beside other tensors in scope that lie where it does."""
    for index, operand, peer in misplaced_operands(failure):
        if operand.owner is not None and operand.owner.kind in ("parameter", "buffer"):
            continue
        frames = {held.frame for held in operand.names}
        beside = {
            each.expression
            for number in frames
            for each in failure.frames[number].scope
            if each.kind == "tensor" and each.device == operand.device
        }
        if is_intentional(failure, operand) or len(beside) < 2:
            continue
        reason = (
            f"{describe(operand)} is on {operand.device}, as what came with it, and was never moved, while it meets a"
            f" tensor on {peer.device}."
        )
        return Finding(index, reason, strength=3)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move all that one statement unpacks, or one container holds, by one edit: where it first comes into reach."""
    found = False
    for spot in fix_sites(diagnosis):
        if spot.kind in ("handover", "use"):
            changes = list(move_batch(diagnosis, spot, source))
            yield from (replace(change, safety="unsure") if found else change for change in changes)
            found = found or bool(changes)
