"""A model is spread over several GPUs, and something stays behind where the activation goes on to the next."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Operand,
    Sources,
    blamed_operand,
    change,
    describe,
    device_in,
    is_spread,
    misplaced_operands,
    move_to,
    names_in,
    occurrences,
    peer_operand,
    placement_targets,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report what does not travel with the activation, where a module in sight lies on several GPUs."""
    if any(not each.device.startswith("cuda:") and each.shape for each in failure.operands) or not is_spread(failure):
        return None
    for index, operand, other in misplaced_operands(failure):
        if _travels(failure, operand):
            reason = (
                f"{describe(operand)} is on {operand.device}, and the model goes on with a tensor on {other.device}."
            )
            return Finding(index, reason, strength=1)
    return None


def _travels(failure: Failure, operand: Operand) -> bool:
    """Whether no module holds the operand, or one whose own parts lie on several GPUs: a row of it may be copied."""
    owner = operand.owner
    return owner is None or device_in(failure, owner.frame, owner.expression) == "mixed"


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Send it after the activation where they meet, and never the activation back."""
    failure = diagnosis.failure
    place = failure.at
    file = source.file(place) if place is not None else None
    root = file.root_at(place) if file is not None and place is not None else None
    if file is None or root is None:
        return
    frame = max(index for index, each in enumerate(failure.frames) if each.place == place)
    statement = file.statement_of(root)
    kept = {file.code(each.target) for each in file.within(statement or root) if isinstance(each, cst.AssignTarget)}
    kept |= {file.code(each.target) for each in file.within(statement or root) if isinstance(each, cst.AugAssign)}
    every = [each for each in (diagnosis, *placement_targets(diagnosis)) if _travels(failure, blamed_operand(each))]
    # What the statement computes anew is what flows on.
    for each in sorted(
        every, key=lambda each: bool(kept & {held.expression for held in names_in(blamed_operand(each), frame)})
    ):
        other = peer_operand(each)
        goal = names_in(other, frame) if other is not None else []
        for held in names_in(blamed_operand(each), frame):
            for node in occurrences(file, root, held.expression)[:1] if goal else ():
                device = f"{goal[0].expression}.device"
                title = f"Send `{held.expression}` after `{goal[0].expression}`"
                made = change(file, file.replaced({node: move_to(node, device)}), title)
                if made:
                    yield made
