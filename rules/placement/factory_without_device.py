"""A tensor is made without a device beside tensors that have one."""

from collections.abc import Iterator

from devfix.sdk import (
    FACTORIES,
    Change,
    Diagnosis,
    Failure,
    Finding,
    Operand,
    Sources,
    add_device_argument,
    blamed_operand,
    creation_location,
    describe,
    device_parameter,
    fix_sites,
    has_device_name,
    is_created_in_reach,
    is_intentional,
    loop_event,
    loop_variable_frame,
    misplaced_operands,
    move_result,
    target_device,
)

# The place where a tensor is made serves all its uses.
SUPERSEDES = (
    "placement/follows-a-stray",
    "placement/half-moved-expression",
    "placement/host-constant",
    "placement/input-not-moved",
)


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that owned code made by a factory and that nobody moved since."""
    for index, operand, peer in misplaced_operands(failure):
        birth, place = operand.creation, creation_location(operand)
        if birth is None or place is None or birth.kind not in ("factory", "constant"):
            continue
        if is_intentional(failure, operand) or loop_event(failure, operand) is not None:
            continue
        is_told = place.function.endswith("__init__") and has_device_name(failure, place, peer.device)
        if _is_held(operand) and not is_told:
            continue
        reason = (
            f"{describe(operand)} was made by `{birth.op.removeprefix('aten::')}` on {operand.device}"
            f" in {place.path}:{place.line}, while it meets a tensor on {peer.device}."
        )
        if _is_held(operand):
            return Finding(index, f"{reason} The constructor that made it has a name for that device.", strength=1)
        # A factory in a function that still runs is as plain as evidence gets; one far away may be an input.
        return Finding(index, reason, strength=2 if is_created_in_reach(failure, operand, peer.device) else 4)
    return None


def _is_held(operand: Operand) -> bool:
    """Whether a module holds the tensor, and moves it along: then it is the module that was not moved."""
    return operand.owner is not None and operand.owner.kind in ("parameter", "buffer")


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Give the factory a device; move the result of one that takes none."""
    birth = blamed_operand(diagnosis).creation
    if loop_variable_frame(diagnosis, source) is not None:
        return
    for spot in fix_sites(diagnosis):
        if spot.kind != "birth" or birth is None or spot.place != birth.places[0]:
            continue
        is_held, file = _is_held(blamed_operand(diagnosis)), source.file(spot.place)
        if is_held and not device_parameter(spot, target_device(diagnosis), source):
            continue
        yield from add_device_argument(diagnosis, spot, source)
        if not is_held and file is not None and file.call_at(spot.place, tuple(FACTORIES)) is None:
            yield from move_result(diagnosis, spot, source)
