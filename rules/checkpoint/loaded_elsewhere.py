"""What is loaded lies where `map_location` says, or where it was saved from, and its peer elsewhere."""

from collections.abc import Iterator

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    Spot,
    anchors,
    argument,
    birthplace,
    blamed,
    change,
    describe,
    expression,
    keyword_added,
    last_name,
    scope_at,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand that was loaded and that nobody moved since."""
    for index, operand, peer in strangers(failure):
        place = birthplace(operand)
        if operand.birth is None or operand.birth.kind != "load" or operand.moves or place is None or operand.owner:
            continue
        because = (
            f"{describe(operand)} was loaded onto {operand.device} in {place.path}:{place.line}, and meets a tensor"
        )
        return Blame(index, f"{because} on {peer.device}.", strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Load it onto the device of what it meets."""
    place = birthplace(blamed(diagnosis))
    file = source.file(place) if place is not None else None
    call = file.call_at(place) if file is not None and place is not None else None
    if file is None or call is None or place is None or last_name(call.func) not in ("load", "load_file"):
        return
    spot = Spot("birth", place, scope_at(diagnosis.failure, place))
    keyword = "device" if last_name(call.func) == "load_file" else "map_location"
    given = argument(call, keyword, 1)
    for anchor in anchors(diagnosis, spot, file):
        changed = {given.value: expression(anchor)} if given else {call: keyword_added(call, keyword, anchor)}
        made = change(file, file.replaced(changed), f"Load onto `{anchor}`")
        if made:
            yield made
