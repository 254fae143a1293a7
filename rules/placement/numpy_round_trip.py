"""What comes back from NumPy is on the host, and meets a tensor that is not."""

from collections.abc import Iterator

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    add_device_argument,
    blamed_operand,
    creation_location,
    describe,
    fix_sites,
    is_created_in_reach,
    is_intentional,
    loop_event,
    misplaced_operands,
    move_result,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that shares memory with an array, in a function that still runs, and that nobody moved."""
    for index, operand, peer in misplaced_operands(failure):
        birth, place = operand.creation, creation_location(operand)
        if birth is None or place is None or birth.kind != "numpy" or operand.owner is not None:
            continue
        if is_intentional(failure, operand) or loop_event(failure, operand) is not None:
            continue
        if not is_created_in_reach(failure, operand, peer.device):
            continue
        reason = (
            f"{describe(operand)} was made of a NumPy array in {place.path}:{place.line}, which lies on the host,"
            f" while it meets a tensor on {peer.device}."
        )
        return Finding(index, reason, strength=2)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the tensor where it comes back from NumPy."""
    birth = blamed_operand(diagnosis).creation
    for spot in fix_sites(diagnosis):
        if spot.kind == "birth" and birth is not None and spot.place == birth.places[0]:
            yield from add_device_argument(diagnosis, spot, source)
            yield from move_result(diagnosis, spot, source)
