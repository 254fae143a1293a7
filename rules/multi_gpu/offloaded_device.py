"""The device that an object declares is where it rests, and the call runs elsewhere."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Origin,
    Sources,
    aimed,
    assignments,
    describe,
    origins,
    origins_changed,
    peer,
    placed_by_code,
    placing_places,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame what owned code put on the host for a call whose data is on a GPU."""
    for index, operand, place in placed_by_code(failure):
        if operand.device == "cpu":
            because = f"{describe(operand)} was put on the host in {place.path}:{place.line}."
            return Blame(index, because, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Name the device on which the call runs: the one in scope, else that of the data."""
    for each in aimed(diagnosis):
        other = peer(each)
        found = origins(each.failure, placing_places(each), source)
        if found and other is not None and other.device != "cpu" and (told := _declared(found[0])):
            yield from origins_changed(each, found, f"`{told}` is where the object rests, and the call runs elsewhere.")


def _declared(found: Origin) -> str:
    """The `.device` of an object that the call goes by, itself or over one local name; "" where it goes by another."""
    named = found.named
    if isinstance(named, cst.Name):
        scope = found.file.function_of(found.call)
        values = [each.value for each in assignments(found.file, named.value, scope)] if scope is not None else []
        named = values[0] if len(values) == 1 else None
    is_own = isinstance(named, cst.Attribute) and named.attr.value.lstrip("_") == "device"
    return found.file.code(named) if is_own and named is not None and found.file.code(named).startswith("self.") else ""
