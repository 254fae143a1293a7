"""A factory follows the device of a tensor that nobody moved."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Change,
    Diagnosis,
    Event,
    Failure,
    Finding,
    FixSite,
    NameRef,
    Operand,
    ScopeVariable,
    Sources,
    blamed_operand,
    describe,
    fix_sites,
    followed,
    is_intentional,
    misplaced_operands,
    move_argument,
    move_result,
    scope_at,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that a factory made beside other tensors on the wrong device."""
    for index, operand, _ in misplaced_operands(failure):
        birth = operand.creation
        place = birth.places[0] if birth is not None and birth.places else None
        if birth is None or place is None or birth.kind != "factory" or operand.transfers or operand.owner is not None:
            continue
        # The device may come from a caller, whose scope has the tensor.
        scopes = [scope_at(failure, each) for each in birth.places if each.owned]
        if any(_is_stray(failure, operand, each) for scope in scopes for each in scope):
            made = f"{describe(operand)} was made on {operand.device} in {place.path}:{place.line}"
            reason = f"{made}, as its factory was told."
            return Finding(index, reason, strength=2)
    return None


def _is_stray(failure: Failure, operand: Operand, binding: ScopeVariable) -> bool:
    """Whether a tensor lies on an operand's device, was there from its birth, and is another one."""
    if binding.kind != "tensor" or binding.device != operand.device or not binding.history:
        return False
    other = binding.history[0] != operand.history[0] and not any(event.kind == "move" for event in binding.history)
    return other and not is_intentional(failure, _operand(failure, operand, binding))


def _operand(failure: Failure, operand: Operand, binding: ScopeVariable) -> Operand:
    """A tensor in scope as if it were the operand."""
    names = tuple(
        NameRef(number, each.expression)
        for number, frame in enumerate(failure.frames)
        for each in frame.scope
        if each.kind == "tensor" and each.history == binding.history and each.shape == binding.shape
    )
    return replace(operand, names=names, history=binding.history, shape=binding.shape, copy=None)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the tensor that the factory follows: where it is handed on, else where it comes in."""
    failure, operand = diagnosis.failure, blamed_operand(diagnosis)
    birth = operand.creation
    stray = followed(failure, birth.places, source) if birth is not None else None
    if birth is None or stray is None or not _is_stray(failure, operand, stray):
        return
    operands = list(failure.operands)
    operands[diagnosis.finding.operand] = _operand(failure, operand, stray)
    towards = replace(diagnosis, failure=replace(failure, operands=tuple(operands)))
    reason = f"It follows `{stray.expression}`, which is on {stray.device} and was never moved."
    for spot in [*_calls(failure, birth, stray), *fix_sites(towards)]:
        if spot.kind in ("handover", "use"):
            yield from (replace(each, reason=reason) for each in move_argument(towards, spot, source))
        else:
            found = move_result(towards, spot, source)
            yield from (replace(each, reason=reason, safety="unsure") for each in found)


def _calls(failure: Failure, birth: Event, stray: ScopeVariable) -> Iterator[FixSite]:
    """The calls through which the factory's result came back, where the tensor was handed in."""
    for place in birth.places[1:]:
        scope = scope_at(failure, place)
        names = [each.expression for each in scope if each.kind == "tensor" and each.history == stray.history]
        if place.owned and names:
            yield FixSite("handover", place, scope, tuple(names))
