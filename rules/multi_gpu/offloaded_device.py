"""The device that an object declares is where it rests, and the call runs elsewhere."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    DeviceSource,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    assignments,
    change_device_sources,
    describe,
    device_sources,
    explicitly_placed,
    peer_operand,
    placement_locations,
    placement_targets,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report what owned code put on the host for a call whose data is on a GPU."""
    for index, operand, place in explicitly_placed(failure):
        if operand.device == "cpu":
            reason = f"{describe(operand)} was put on the host in {place.path}:{place.line}."
            return Finding(index, reason, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Name the device on which the call runs: the one in scope, else that of the data."""
    for each in placement_targets(diagnosis):
        other = peer_operand(each)
        found = device_sources(each.failure, placement_locations(each), source)
        if found and other is not None and other.device != "cpu" and (told := _declared(found[0])):
            yield from change_device_sources(
                each, found, f"`{told}` is where the object rests, and the call runs elsewhere."
            )


def _declared(found: DeviceSource) -> str:
    """The `.device` of an object that the call goes by, itself or over one local name; "" where it goes by another."""
    named = found.named
    if isinstance(named, cst.Name):
        scope = found.file.function_of(found.call)
        values = [each.value for each in assignments(found.file, named.value, scope)] if scope is not None else []
        named = values[0] if len(values) == 1 else None
    is_own = isinstance(named, cst.Attribute) and named.attr.value.lstrip("_") == "device"
    return found.file.code(named) if is_own and named is not None and found.file.code(named).startswith("self.") else ""
