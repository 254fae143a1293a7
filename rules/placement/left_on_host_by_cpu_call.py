"""A tensor is brought to the host by a stray `.cpu()` and then meets others that are not."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    blamed,
    change,
    describe,
    frame_of,
    is_move,
    strangers,
    unmoved,
    was_moved_to,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand that a function which still runs brought to the host, beside one that it did not."""
    for index, operand, peer in strangers(failure):
        place = was_moved_to(operand, "cpu") if operand.device == "cpu" and operand.owner is None else None
        if place is None or frame_of(failure, place) is None:
            continue
        because = (
            f"{describe(operand)} was brought to the host in {place.path}:{place.line}, though it meets a tensor on"
            f" {peer.device} afterwards."
        )
        return Blame(index, because, strength=2)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Take the move away."""
    operand = blamed(diagnosis)
    place = was_moved_to(operand, "cpu")
    file = source.file(place) if place is not None else None
    if file is None or place is None:
        return
    call = next((each for each in file.expressions_at(place) if isinstance(each, cst.Call) and is_move(each)), None)
    if call is None or not isinstance(call.func, cst.Attribute):
        return
    title = f"Leave `{file.code(call.func.value)}` where it is"
    found = change(file, file.replaced({call: unmoved(call)}), title, "likely")
    if found:
        yield found
