"""What comes back from NumPy is on the host, and meets a tensor that is not."""

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
    factory_given_device,
    is_born_in_reach,
    is_meant,
    loop_event,
    result_moved,
    spots,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand that shares memory with an array, in a function that still runs, and that nobody moved."""
    for index, operand, peer in strangers(failure):
        birth, place = operand.birth, birthplace(operand)
        if birth is None or place is None or birth.kind != "numpy" or operand.owner is not None:
            continue
        if is_meant(failure, operand) or loop_event(failure, operand) is not None:
            continue
        if not is_born_in_reach(failure, operand, peer.device):
            continue
        because = (
            f"{describe(operand)} was made of a NumPy array in {place.path}:{place.line}, which lies on the host,"
            f" while it meets a tensor on {peer.device}."
        )
        return Blame(index, because, strength=2)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the tensor where it comes back from NumPy."""
    birth = blamed(diagnosis).birth
    for spot in spots(diagnosis):
        if spot.kind == "birth" and birth is not None and spot.place == birth.places[0]:
            yield from factory_given_device(diagnosis, spot, source)
            yield from result_moved(diagnosis, spot, source)
