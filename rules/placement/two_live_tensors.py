"""Two tensors that live on different devices meet: masks, weights, thresholds and indices follow the data."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Operand,
    Sources,
    describe,
    device_in,
    fix_sites,
    frame_of,
    is_intentional,
    is_written_to,
    misplaced_operands,
    move_argument,
    move_list,
    move_result,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report the operand that was never put where it is, else the one that is no parameter and takes no result."""
    # A copy of what the operator writes to would take the result away: the other one follows it.
    for index, operand, peer in sorted(misplaced_operands(failure), key=lambda each: is_written_to(failure, each[1])):
        if operand.owner is not None and not is_intentional(failure, operand) and not _is_left_alone(failure, operand):
            continue
        reason = (
            f"{describe(operand)} is on {operand.device} and meets a tensor on {peer.device}, which it should follow."
        )
        return Finding(index, reason, strength=5)
    return None


def _is_left_alone(failure: Failure, operand: Operand) -> bool:
    """Whether the operand is a plain attribute, or a buffer of a module of which only some parts were moved."""
    owner = operand.owner
    if owner is None or owner.kind == "parameter":
        return False
    return owner.kind == "attribute" or device_in(failure, owner.frame, owner.expression) == "mixed"


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move it where it is used, and else where it is handed in, from the inside outward; then the one that it met."""
    found = False
    for spot in reversed(fix_sites(diagnosis)):
        if spot.kind in ("use", "handover"):
            for each in (*move_list(diagnosis, spot, source), *move_argument(diagnosis, spot, source)):
                yield replace(each, safety="unsure" if found else "likely")
                found = True
    for spot in reversed(fix_sites(diagnosis)):
        # What has no name there was computed in the failing statement, or came back from a call in it.
        if not found and spot.kind == "derived" and frame_of(diagnosis.failure, spot.place) is not None:
            yield from (replace(each, safety="unsure") for each in move_result(diagnosis, spot, source))
    for other in _others(diagnosis):
        for spot in fix_sites(other):
            if spot.kind == "use":
                yield from (replace(each, safety="unsure") for each in move_argument(other, spot, source))


def _others(diagnosis: Diagnosis) -> Iterator[Diagnosis]:
    """Yield the diagnoses that blame the other of two that were both put where they are: a run decides."""
    failure, blame = diagnosis.failure, diagnosis.finding
    if is_intentional(failure, failure.operands[blame.operand]):
        for index, operand, _ in misplaced_operands(failure):
            if index != blame.operand and is_intentional(failure, operand) and not is_written_to(failure, operand):
                yield replace(diagnosis, finding=replace(blame, operand=index, device=""))
