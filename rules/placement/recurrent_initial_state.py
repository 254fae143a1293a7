"""The first state of a recurrent layer is made on the host, beside an input that is not."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    FACTORIES,
    Blame,
    Change,
    Diagnosis,
    Failure,
    File,
    Operand,
    Place,
    Sources,
    anchors,
    birthplace,
    blamed,
    change,
    describe,
    is_bound,
    is_meant,
    keyword_added,
    moved,
    spots,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame a state that owned code made and handed to a recurrent layer."""
    if failure.kind != "recurrent-state":
        return None
    for index, operand, peer in strangers(failure):
        place = _made(failure, operand)
        if place is not None:
            because = (
                f"{describe(operand)}, a state that begins in {place.path}:{place.line}, is on {operand.device} while"
                f" the layer and its input are on {peer.device}."
            )
            return Blame(index, because, strength=1)
    return None


def _made(failure: Failure, operand: Operand) -> Place | None:
    """Where owned code made an operand that is no input or weight of the layer, and that nobody moved."""
    given = operand.argument in ("input", "args[0]") or operand.owner is not None or is_meant(failure, operand)
    made = operand.birth is not None and operand.birth.kind in ("factory", "constant", "random")
    return None if given or not made else birthplace(operand)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Make every state of the call where its input is; move those that are drawn."""
    failure, wrong = diagnosis.failure, blamed(diagnosis)
    births = [spot for spot in spots(diagnosis) if wrong.birth is not None and spot.place == wrong.birth.places[0]]
    for spot in births[:1]:
        file = source.file(spot.place)
        if file is None:
            continue
        states = [(place, each) for each in failure.operands if (place := _made(failure, each)) is not None]
        calls = [call for place, each in states if place.path == spot.place.path and (call := _call(file, place, each))]
        for anchor in anchors(diagnosis, spot, file):
            edits = {call: _placed(call, drawn, anchor) for call, drawn in calls if is_bound(file, call, anchor)}
            found = change(file, file.replaced(edits), f"Begin with a state on `{anchor}`") if edits else None
            if found:
                yield found


def _call(file: File, place: Place, operand: Operand) -> tuple[cst.Call, bool] | None:
    """The call that made a state, and whether it drew it at random."""
    drawn = operand.birth is not None and operand.birth.kind == "random"
    call = file.call_at(place) if drawn else file.call_at(place, tuple(FACTORIES))
    return (call, drawn) if call is not None else None


def _placed(call: cst.Call, drawn: bool, anchor: str) -> cst.BaseExpression:
    return moved(call, anchor) if drawn else keyword_added(call, "device", anchor)
