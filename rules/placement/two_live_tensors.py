"""Two tensors that live on different devices meet: masks, weights, thresholds and indices follow the data."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Operand,
    Sources,
    argument_moved,
    describe,
    device_in,
    frame_of,
    is_meant,
    is_written_to,
    list_moved,
    result_moved,
    spots,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame the operand that was never put where it is, else the one that is no parameter and takes no result."""
    # A copy of what the operator writes to would take the result away: the other one follows it.
    for index, operand, peer in sorted(strangers(failure), key=lambda each: is_written_to(failure, each[1])):
        if operand.owner is not None and not is_meant(failure, operand) and not _is_left_alone(failure, operand):
            continue
        because = (
            f"{describe(operand)} is on {operand.device} and meets a tensor on {peer.device}, which it should follow."
        )
        return Blame(index, because, strength=5)
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
    for spot in reversed(spots(diagnosis)):
        if spot.kind in ("use", "handover"):
            for each in (*list_moved(diagnosis, spot, source), *argument_moved(diagnosis, spot, source)):
                yield replace(each, safety="unsure" if found else "likely")
                found = True
    for spot in reversed(spots(diagnosis)):
        # What has no name there was computed in the failing statement, or came back from a call in it.
        if not found and spot.kind == "derived" and frame_of(diagnosis.failure, spot.place) is not None:
            yield from (replace(each, safety="unsure") for each in result_moved(diagnosis, spot, source))
    for other in _others(diagnosis):
        for spot in spots(other):
            if spot.kind == "use":
                yield from (replace(each, safety="unsure") for each in argument_moved(other, spot, source))


def _others(diagnosis: Diagnosis) -> Iterator[Diagnosis]:
    """Yield the diagnoses that blame the other of two that were both put where they are: a run decides."""
    failure, blame = diagnosis.failure, diagnosis.blame
    if is_meant(failure, failure.operands[blame.operand]):
        for index, operand, _ in strangers(failure):
            if index != blame.operand and is_meant(failure, operand) and not is_written_to(failure, operand):
                yield replace(diagnosis, blame=replace(blame, operand=index, device=""))
