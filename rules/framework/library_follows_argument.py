"""A library makes a tensor where its argument lies, and the argument was never moved."""

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    FixSite,
    NameRef,
    Operand,
    ScopeVariable,
    Sources,
    blamed_operand,
    is_intentional,
    misplaced_operands,
    move_argument,
    on_device,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report a tensor that a library made during the call that fails, and that no name of the program leads to."""
    if failure.at is None or not failure.frames or failure.frames[-1].place.owned:
        return None
    for index, operand, peer in misplaced_operands(failure):
        if operand.names or operand.owner is not None or not _is_library(failure, operand):
            continue
        others = [each for each in _scope(failure) if each.kind == "tensor" and each.device == operand.device]
        if others:
            reason = (
                f"`{failure.at.function}` hands a tensor on {operand.device} to a library, which makes others there,"
                f" while they meet one on {peer.device}."
            )
            return Finding(index, reason, strength=4)
    return None


def _scope(failure: Failure) -> tuple[ScopeVariable, ...]:
    return next(frame.scope for frame in failure.frames if frame.place == failure.at)


def _is_library(failure: Failure, operand: Operand) -> bool:
    """Whether the operand was born in a call of a library that the failing line of the program made."""
    places = operand.creation.places if operand.creation is not None else ()
    owned = next((place for place in places if place.owned), None)
    return bool(places) and not places[0].owned and owned == failure.at


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the arguments of the call that lie where the library's tensor does."""
    failure, operand = diagnosis.failure, blamed_operand(diagnosis)
    place = failure.at
    file = source.file(place) if place is not None else None
    call = file.call_at(place) if file is not None and place is not None else None
    if file is None or call is None or place is None:
        return
    frame = max(number for number, each in enumerate(failure.frames) if each.place == place)
    for binding in on_device(_scope(failure), operand.device, "tensor"):
        taken = Operand(
            binding.expression,
            binding.device,
            shape=binding.shape,
            names=(NameRef(frame, binding.expression),),
            history=binding.history,
        )
        if not _is_given(file, call, binding.expression) or is_intentional(failure, taken):
            continue
        operands = list(failure.operands)
        operands[diagnosis.finding.operand] = taken
        followed = replace(diagnosis, failure=replace(failure, operands=tuple(operands)))
        spot = FixSite("use", place, _scope(failure), (binding.expression,), frame)
        reason = f"The library follows `{binding.expression}`, which is on {binding.device} and was never moved."
        yield from (replace(each, reason=reason) for each in move_argument(followed, spot, source))


def _is_given(file: File, call: cst.Call, text: str) -> bool:
    """Whether a call gets an expression, or what is computed from it, as an argument."""
    return any(file.find(each.value, text) for each in call.args)
