"""A tensor is sent by a name that says another GPU than the one where it is used."""

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

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
    is_loop_variable,
    last_placement,
    literal_device,
    placement_locations,
    placement_targets,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report what owned code moved to one GPU, where its peer is on another; what was moved last comes first."""
    if not all(operand.device.startswith("cuda:") or not operand.shape for operand in failure.operands):
        return None
    for index, operand, place in explicitly_placed(failure):
        if operand.device.startswith("cuda:") and last_placement(operand) in operand.transfers:
            sent = f"{describe(operand)} was sent to {operand.device} in {place.path}:{place.line}"
            reason = f"{sent}, and meets a tensor on another GPU."
            return Finding(index, reason, strength=4)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Send it to where its peer is, by a name for that device at the same place."""
    for each in placement_targets(diagnosis):
        found = device_sources(each.failure, placement_locations(each), source)[-1:]
        named = found[0].named if found else None
        if named is not None and not literal_device(found[0].file, named) and not _is_handed_out(found[0], named):
            yield from (replace(change, safety="likely") for change in change_device_sources(each, found))


def _is_handed_out(found: DeviceSource, named: cst.BaseExpression) -> bool:
    """Whether a loop hands the device out, so that each turn sends to another one: `part.to(device)`."""
    names = [each.value for each in found.file.within(named) if isinstance(each, cst.Name)]
    return any(is_loop_variable(found.file, found.call, name) for name in names)
