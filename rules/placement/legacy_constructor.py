"""A legacy constructor (`torch.Tensor(…)`, `torch.FloatTensor(…)`) makes a tensor on the host."""

import re
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
    last_name,
    misplaced_operands,
    move_result,
)

LEGACY = re.compile(r"(^|[.:])(\w*Tensor|new|lift_fresh)$")
CALLED = re.compile(r"Tensor$|^new$")


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that owned code made by a legacy constructor and that nobody moved since."""
    for index, operand, peer in misplaced_operands(failure):
        birth, place = operand.creation, creation_location(operand)
        if birth is None or place is None or LEGACY.search(birth.op) is None or operand.owner is not None:
            continue
        if is_intentional(failure, operand):
            continue
        reason = (
            f"{describe(operand)} was made by `{birth.op}` in {place.path}:{place.line}: a legacy constructor takes no"
            f" `device=`, so it is on {operand.device} while it meets a tensor on {peer.device}."
        )
        return Finding(index, reason, strength=1 if is_created_in_reach(failure, operand, peer.device) else 4)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move what it made: `torch.tensor(…, device=)` reads its argument's dtype anew, and may make doubles of floats."""
    birth = blamed_operand(diagnosis).creation
    for spot in fix_sites(diagnosis):
        file = source.file(spot.place)
        call = file.call_at(spot.place) if file is not None else None
        if spot.kind != "birth" or birth is None or spot.place != birth.places[0] or call is None:
            continue
        if CALLED.search(last_name(call.func)):
            yield from move_result(diagnosis, spot, source)
