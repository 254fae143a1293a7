"""The first state of a recurrent layer is made on the host, beside an input that is not."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    FACTORIES,
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    Operand,
    SourceLocation,
    Sources,
    add_keyword,
    blamed_operand,
    change,
    creation_location,
    describe,
    device_expressions,
    fix_sites,
    is_bound,
    is_intentional,
    misplaced_operands,
    move_to,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report a state that owned code made and handed to a recurrent layer."""
    if failure.kind != "recurrent-state":
        return None
    for index, operand, peer in misplaced_operands(failure):
        place = _made(failure, operand)
        if place is not None:
            reason = (
                f"{describe(operand)}, a state that begins in {place.path}:{place.line}, is on {operand.device} while"
                f" the layer and its input are on {peer.device}."
            )
            return Finding(index, reason, strength=1)
    return None


def _made(failure: Failure, operand: Operand) -> SourceLocation | None:
    """Where owned code made an operand that is no input or weight of the layer, and that nobody moved."""
    given = operand.argument in ("input", "args[0]") or operand.owner is not None or is_intentional(failure, operand)
    made = operand.creation is not None and operand.creation.kind in ("factory", "constant", "random")
    return None if given or not made else creation_location(operand)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Make every state of the call where its input is; move those that are drawn."""
    failure, wrong = diagnosis.failure, blamed_operand(diagnosis)
    births = [
        spot for spot in fix_sites(diagnosis) if wrong.creation is not None and spot.place == wrong.creation.places[0]
    ]
    for spot in births[:1]:
        file = source.file(spot.place)
        if file is None:
            continue
        states = [(place, each) for each in failure.operands if (place := _made(failure, each)) is not None]
        calls = [call for place, each in states if place.path == spot.place.path and (call := _call(file, place, each))]
        for anchor in device_expressions(diagnosis, spot, file):
            edits = {call: _placed(call, drawn, anchor) for call, drawn in calls if is_bound(file, call, anchor)}
            found = change(file, file.replaced(edits), f"Begin with a state on `{anchor}`") if edits else None
            if found:
                yield found


def _call(file: File, place: SourceLocation, operand: Operand) -> tuple[cst.Call, bool] | None:
    """The call that made a state, and whether it drew it at random."""
    drawn = operand.creation is not None and operand.creation.kind == "random"
    call = file.call_at(place) if drawn else file.call_at(place, tuple(FACTORIES))
    return (call, drawn) if call is not None else None


def _placed(call: cst.Call, drawn: bool, anchor: str) -> cst.BaseExpression:
    return move_to(call, anchor) if drawn else add_keyword(call, "device", anchor)
