"""A tensor is sent by a name that says another GPU than the one where it is used."""

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Origin,
    Sources,
    aimed,
    describe,
    is_turned,
    literal_device,
    origins,
    origins_changed,
    placed_by_code,
    placing,
    placing_places,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame what owned code moved to one GPU, where its peer is on another; what was moved last comes first."""
    if not all(operand.device.startswith("cuda:") or not operand.shape for operand in failure.operands):
        return None
    for index, operand, place in placed_by_code(failure):
        if operand.device.startswith("cuda:") and placing(operand) in operand.moves:
            sent = f"{describe(operand)} was sent to {operand.device} in {place.path}:{place.line}"
            because = f"{sent}, and meets a tensor on another GPU."
            return Blame(index, because, strength=4)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Send it to where its peer is, by a name for that device at the same place."""
    for each in aimed(diagnosis):
        found = origins(each.failure, placing_places(each), source)[-1:]
        named = found[0].named if found else None
        if named is not None and not literal_device(found[0].file, named) and not _is_handed_out(found[0], named):
            yield from (replace(change, safety="likely") for change in origins_changed(each, found))


def _is_handed_out(found: Origin, named: cst.BaseExpression) -> bool:
    """Whether a loop hands the device out, so that each turn sends to another one: `part.to(device)`."""
    names = [each.value for each in found.file.within(named) if isinstance(each, cst.Name)]
    return any(is_turned(found.file, found.call, name) for name in names)
