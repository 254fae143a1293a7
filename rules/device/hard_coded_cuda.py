"""A device is written into the code, "cuda:0" or `.cuda(0)`, and the data lies elsewhere."""

from collections.abc import Iterator

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Origin,
    Sources,
    aimed,
    describe,
    literal_device,
    named_device,
    origins,
    origins_changed,
    placed_by_code,
    placing_places,
    target_device,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame what owned code made on one GPU, or sent to it, while its peer is elsewhere."""
    for index, operand, place in placed_by_code(failure):
        if operand.device.startswith("cuda"):
            because = f"{describe(operand)} was put on {operand.device} in {place.path}:{place.line}."
            return Blame(index, because, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Name the device of the data where the name of one is written."""
    for each in aimed(diagnosis):
        found = origins(each.failure, placing_places(each), source)
        if not found or found[0].parameter:  # what a caller could have passed on is another rule's matter
            continue
        spelt = _spelt(found[0])
        # Between two GPUs a "cuda" without an index is another rule's matter too.
        if spelt.startswith("cuda:") or (spelt == "cuda" and target_device(each) == "cpu"):
            yield from origins_changed(each, found, f"The device {spelt} is written into the code.")


def _spelt(found: Origin) -> str:
    direct = named_device(found.file, found.call)
    return direct if direct or found.named is None else literal_device(found.file, found.named)
