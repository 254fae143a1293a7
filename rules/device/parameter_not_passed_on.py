"""A function takes a device, and its caller does not pass its own on."""

from collections.abc import Iterator

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    change_device_sources,
    describe,
    device_sources,
    explicitly_placed,
    last_placement,
    placement_locations,
    placement_targets,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report a tensor that one function of the repository placed for another, or could not place without a GPU."""
    if failure.kind == "no-device" and len(failure.owned_frames) > 1 and failure.at is not None:
        reason = f"{failure.at.path}:{failure.at.line} puts something on a GPU, and there is none."
        return Finding(0, reason, strength=1, device="cpu")
    for index, operand, place in explicitly_placed(failure):
        placed = last_placement(operand)
        if placed is not None and sum(each.owned for each in placed.places) > 1:
            reason = f"{describe(operand)} was put on {operand.device} in {place.path}:{place.line}."
            return Finding(index, reason, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Pass the device where the call leaves it out."""
    for each in placement_targets(diagnosis):
        found = device_sources(each.failure, placement_locations(each), source)
        if found and found[0].parameter:
            reason = f"`{found[0].parameter}` is a parameter there, which the caller leaves to its default."
            yield from change_device_sources(each, found, reason)
