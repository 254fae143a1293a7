"""A tensor is made without a device beside tensors that have one."""

from collections.abc import Iterator

from devfix.sdk import (
    FACTORIES,
    Blame,
    Change,
    Diagnosis,
    Failure,
    Operand,
    Sources,
    birthplace,
    blamed,
    describe,
    factory_given_device,
    is_born_in_reach,
    is_meant,
    loop_event,
    names_device,
    result_moved,
    spots,
    strangers,
    target_device,
    told_device,
    turn_frame,
)

# The place where a tensor is made serves all its uses.
SUPERSEDES = (
    "placement/follows-a-stray",
    "placement/half-moved-expression",
    "placement/host-constant",
    "placement/input-not-moved",
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand that owned code made by a factory and that nobody moved since."""
    for index, operand, peer in strangers(failure):
        birth, place = operand.birth, birthplace(operand)
        if birth is None or place is None or birth.kind not in ("factory", "constant"):
            continue
        if is_meant(failure, operand) or loop_event(failure, operand) is not None:
            continue
        is_told = place.function.endswith("__init__") and names_device(failure, place, peer.device)
        if _is_held(operand) and not is_told:
            continue
        because = (
            f"{describe(operand)} was made by `{birth.op.removeprefix('aten::')}` on {operand.device}"
            f" in {place.path}:{place.line}, while it meets a tensor on {peer.device}."
        )
        if _is_held(operand):
            return Blame(index, f"{because} The constructor that made it has a name for that device.", strength=1)
        # A factory in a function that still runs is as plain as evidence gets; one far away may be an input.
        return Blame(index, because, strength=2 if is_born_in_reach(failure, operand, peer.device) else 4)
    return None


def _is_held(operand: Operand) -> bool:
    """Whether a module holds the tensor, and moves it along: then it is the module that was not moved."""
    return operand.owner is not None and operand.owner.kind in ("parameter", "buffer")


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Give the factory a device; move the result of one that takes none."""
    birth = blamed(diagnosis).birth
    if turn_frame(diagnosis, source) is not None:
        return
    for spot in spots(diagnosis):
        if spot.kind != "birth" or birth is None or spot.place != birth.places[0]:
            continue
        is_held, file = _is_held(blamed(diagnosis)), source.file(spot.place)
        if is_held and not told_device(spot, target_device(diagnosis), source):
            continue
        yield from factory_given_device(diagnosis, spot, source)
        if not is_held and file is not None and file.call_at(spot.place, tuple(FACTORIES)) is None:
            yield from result_moved(diagnosis, spot, source)
