""" "cuda" without an index means one GPU here and another there: it is resolved for each thread, each time anew."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    DeviceSource,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    change,
    change_device_sources,
    describe,
    device_sources,
    explicitly_placed,
    last_name,
    literal_device,
    named_device,
    pin_where_assigned,
    placement_locations,
    placement_targets,
)

BECAUSE = '"cuda" without an index is the GPU that is current in the thread at that moment.'
OF_TYPE = "The name of a type says nothing of the GPU: what is cast by it goes to the current one."


def diagnose(failure: Failure) -> Finding | None:
    """Report what owned code sent to one GPU, where its peer is on another."""
    if not all(operand.device.startswith("cuda:") or not operand.shape for operand in failure.operands):
        return None
    for index, operand, place in explicitly_placed(failure):
        thread = "" if failure.thread == "MainThread" else f" in the thread {failure.thread}"
        reason = f"{describe(operand)} was put on {operand.device} in {place.path}:{place.line}{thread}."
        return Finding(index, reason, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Name the device of what it meets where it is sent; else pin the name to one GPU where it is given."""
    for each in placement_targets(diagnosis):
        yield from _type_followed(each, source)
        found = device_sources(each.failure, placement_locations(each), source)
        if found and not found[0].parameter and _is_unindexed(found[0]):
            yield from change_device_sources(each, found, BECAUSE)
            if isinstance(found[0].named, cst.Attribute):
                yield from pin_where_assigned(each, source, found[0].file.code(found[0].named))


def _type_followed(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """The tensor itself named, where one was cast by the name of its type: `.to(x)` for `.type(x.type())`."""
    for place in placement_locations(diagnosis):
        file = source.file(place)
        call = file.call_at(place, ("type",)) if file is not None else None
        if file is None or call is None or len(call.args) != 1 or not isinstance(call.func, cst.Attribute):
            continue
        named = call.args[0].value
        if not isinstance(named, cst.Call) or named.args or last_name(named.func) != "type":
            continue
        if isinstance(named.func, cst.Attribute):
            to = call.with_changes(
                func=call.func.with_changes(attr=cst.Name("to")),
                args=[call.args[0].with_changes(value=named.func.value)],
            )
            title = f"Follow `{file.code(named.func.value)}`, whose type names no GPU"
            if found := change(file, file.replaced({call: to}), title, reason=OF_TYPE):
                yield found


def _is_unindexed(found: DeviceSource) -> bool:
    """Whether the device that was named is "cuda" without an index, as the run showed or the code spells out."""
    named = found.named
    if named is None:
        return named_device(found.file, found.call) == "cuda"
    text = found.file.code(named)
    seen = {each.device for each in found.spot.scope if each.expression == text}
    return "cuda" in seen or (not seen and literal_device(found.file, named) == "cuda")
