"""What is loaded lies where `map_location` says, or where it was saved from, and its peer elsewhere."""

from collections.abc import Iterator

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    FixSite,
    Sources,
    add_keyword,
    argument,
    blamed_operand,
    change,
    creation_location,
    describe,
    device_expressions,
    expression,
    last_name,
    misplaced_operands,
    scope_at,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that was loaded and that nobody moved since."""
    for index, operand, peer in misplaced_operands(failure):
        place = creation_location(operand)
        if (
            operand.creation is None
            or operand.creation.kind != "load"
            or operand.transfers
            or place is None
            or operand.owner
        ):
            continue
        reason = (
            f"{describe(operand)} was loaded onto {operand.device} in {place.path}:{place.line}, and meets a tensor"
        )
        return Finding(index, f"{reason} on {peer.device}.", strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Load it onto the device of what it meets."""
    place = creation_location(blamed_operand(diagnosis))
    file = source.file(place) if place is not None else None
    call = file.call_at(place) if file is not None and place is not None else None
    if file is None or call is None or place is None or last_name(call.func) not in ("load", "load_file"):
        return
    spot = FixSite("birth", place, scope_at(diagnosis.failure, place))
    keyword = "device" if last_name(call.func) == "load_file" else "map_location"
    given = argument(call, keyword, 1)
    for anchor in device_expressions(diagnosis, spot, file):
        changed = {given.value: expression(anchor)} if given else {call: add_keyword(call, keyword, anchor)}
        made = change(file, file.replaced(changed), f"Load onto `{anchor}`")
        if made:
            yield made
