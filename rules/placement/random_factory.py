"""Random numbers are drawn on the host beside tensors on another device."""

from collections.abc import Iterator

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    birthplace,
    blamed,
    describe,
    is_born_in_reach,
    is_meant,
    loop_event,
    result_moved,
    spots,
    strangers,
    turn_frame,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand that owned code drew at random and that nobody moved since."""
    for index, operand, peer in strangers(failure):
        birth, place = operand.birth, birthplace(operand)
        if birth is None or place is None or birth.kind != "random" or operand.owner is not None:
            continue
        if is_meant(failure, operand) or loop_event(failure, operand) is not None:
            continue
        because = (
            f"{describe(operand)} was drawn by `{birth.op.removeprefix('aten::')}` on {operand.device}"
            f" in {place.path}:{place.line}, while it meets a tensor on {peer.device}."
        )
        return Blame(index, because, strength=2 if is_born_in_reach(failure, operand, peer.device) else 4)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move what was drawn: `device=` would draw other numbers, for each device has a random stream of its own."""
    birth = blamed(diagnosis).birth
    if turn_frame(diagnosis, source) is not None:
        return
    for spot in spots(diagnosis):
        if spot.kind == "birth" and birth is not None and spot.place == birth.places[0]:
            yield from result_moved(diagnosis, spot, source)
