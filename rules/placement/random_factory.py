"""Random numbers are drawn on the host beside tensors on another device."""

from collections.abc import Iterator

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    blamed_operand,
    creation_location,
    describe,
    fix_sites,
    is_created_in_reach,
    is_intentional,
    loop_event,
    loop_variable_frame,
    misplaced_operands,
    move_result,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that owned code drew at random and that nobody moved since."""
    for index, operand, peer in misplaced_operands(failure):
        birth, place = operand.creation, creation_location(operand)
        if birth is None or place is None or birth.kind != "random" or operand.owner is not None:
            continue
        if is_intentional(failure, operand) or loop_event(failure, operand) is not None:
            continue
        reason = (
            f"{describe(operand)} was drawn by `{birth.op.removeprefix('aten::')}` on {operand.device}"
            f" in {place.path}:{place.line}, while it meets a tensor on {peer.device}."
        )
        return Finding(index, reason, strength=2 if is_created_in_reach(failure, operand, peer.device) else 4)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move what was drawn: `device=` would draw other numbers, for each device has a random stream of its own."""
    birth = blamed_operand(diagnosis).creation
    if loop_variable_frame(diagnosis, source) is not None:
        return
    for spot in fix_sites(diagnosis):
        if spot.kind == "birth" and birth is not None and spot.place == birth.places[0]:
            yield from move_result(diagnosis, spot, source)
