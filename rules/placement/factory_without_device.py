"""A tensor is made without a device beside tensors that have one."""

from collections.abc import Iterator

from devfix.sdk import (
    FACTORIES,
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    birthplace,
    blamed,
    describe,
    factory_given_device,
    is_born_in_reach,
    is_meant,
    loop_event,
    result_moved,
    spots,
    strangers,
    turn_frame,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand that owned code made by a factory and that nobody moved since."""
    for index, operand, peer in strangers(failure):
        birth, place = operand.birth, birthplace(operand)
        if birth is None or place is None or birth.kind not in ("factory", "constant"):
            continue
        held = operand.owner is not None and operand.owner.kind in ("parameter", "buffer")
        if is_meant(failure, operand) or held or loop_event(failure, operand) is not None:
            continue
        because = (
            f"{describe(operand)} was made by `{birth.op.removeprefix('aten::')}` on {operand.device}"
            f" in {place.path}:{place.line}, while it meets a tensor on {peer.device}."
        )
        # A factory in a function that still runs is as plain as evidence gets; one far away may be an input.
        return Blame(index, because, strength=2 if is_born_in_reach(failure, operand, peer.device) else 4)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Give the factory a device; move the result of one that takes none."""
    birth = blamed(diagnosis).birth
    if turn_frame(diagnosis, source) is not None:
        return
    for spot in spots(diagnosis):
        if spot.kind != "birth" or birth is None or spot.place != birth.places[0]:
            continue
        yield from factory_given_device(diagnosis, spot, source)
        file = source.file(spot.place)
        if file is not None and file.call_at(spot.place, tuple(FACTORIES)) is None:
            yield from result_moved(diagnosis, spot, source)
