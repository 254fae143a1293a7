"""Autocast is given a whole device where it wants the type of one."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    argument,
    change,
    expression,
    imported_name,
    scope_of,
)

INDEX = re.compile(r":\d+(?=[\"'])")


def diagnose(failure: Failure) -> Finding | None:
    """Report the argument."""
    if failure.kind != "autocast-device" or failure.at is None:
        return None
    return Finding(0, 'Autocast wants the type of a device, "cuda", and was given a whole device.', strength=1)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Give it the type."""
    place = diagnosis.failure.at
    file = source.file(place) if place is not None else None
    call = file.call_at(place) if file is not None and place is not None else None
    given = argument(call, "device_type", 0) if call is not None else None
    if file is None or given is None:
        return
    text = file.code(given.value)
    scope = scope_of(diagnosis.failure, file, given.value)
    if isinstance(given.value, cst.SimpleString):
        better = INDEX.sub("", text)
    elif any(each.expression == text and each.kind == "device" for each in scope) or text.endswith("device"):
        better = f"{text}.type"
    else:
        return
    if any(each.expression == text and each.kind == "string" for each in scope):
        better = f"{imported_name(file, 'torch.device')}({text}).type"
    made = change(file, file.replaced({given.value: expression(better)}), f"Give autocast `{better}`")
    if made:
        yield made
