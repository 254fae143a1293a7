"""A device is written into the code, "cuda:0" or `.cuda(0)`, and the data lies elsewhere."""

from collections.abc import Iterator

from devfix.sdk import (
    Change,
    DeviceSource,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    change_device_sources,
    describe,
    device_sources,
    explicitly_placed,
    literal_device,
    named_device,
    placement_locations,
    placement_targets,
    target_device,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report what owned code made on one GPU, or sent to it, while its peer is elsewhere."""
    for index, operand, place in explicitly_placed(failure):
        if operand.device.startswith("cuda"):
            reason = f"{describe(operand)} was put on {operand.device} in {place.path}:{place.line}."
            return Finding(index, reason, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Name the device of the data where the name of one is written."""
    for each in placement_targets(diagnosis):
        found = device_sources(each.failure, placement_locations(each), source)
        if not found or found[0].parameter:  # what a caller could have passed on is another rule's matter
            continue
        spelt = _spelt(found[0])
        # Between two GPUs a "cuda" without an index is another rule's matter too.
        if spelt.startswith("cuda:") or (spelt == "cuda" and target_device(each) == "cpu"):
            yield from change_device_sources(each, found, f"The device {spelt} is written into the code.")


def _spelt(found: DeviceSource) -> str:
    direct = named_device(found.file, found.call)
    return direct if direct or found.named is None else literal_device(found.file, found.named)
