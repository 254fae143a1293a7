"""A function takes a device, and its caller does not pass its own on."""

from collections.abc import Iterator

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    aimed,
    describe,
    origins,
    origins_changed,
    placed_by_code,
    placing,
    placing_places,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame a tensor that one function of the repository placed for another, or could not place without a GPU."""
    if failure.kind == "no-device" and len(failure.owned_frames) > 1 and failure.at is not None:
        because = f"{failure.at.path}:{failure.at.line} puts something on a GPU, and there is none."
        return Blame(0, because, strength=1, device="cpu")
    for index, operand, place in placed_by_code(failure):
        placed = placing(operand)
        if placed is not None and sum(each.owned for each in placed.places) > 1:
            because = f"{describe(operand)} was put on {operand.device} in {place.path}:{place.line}."
            return Blame(index, because, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Pass the device where the call leaves it out."""
    for each in aimed(diagnosis):
        found = origins(each.failure, placing_places(each), source)
        if found and found[0].parameter:
            because = f"`{found[0].parameter}` is a parameter there, which the caller leaves to its default."
            yield from origins_changed(each, found, because)
