"""A factory follows the device of a tensor that nobody moved."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Binding,
    Blame,
    Change,
    Diagnosis,
    Event,
    Failure,
    Held,
    Operand,
    Sources,
    Spot,
    argument_moved,
    blamed,
    describe,
    followed,
    is_meant,
    result_moved,
    scope_at,
    spots,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand that a factory made beside other tensors on the wrong device."""
    for index, operand, _ in strangers(failure):
        birth = operand.birth
        place = birth.places[0] if birth is not None and birth.places else None
        if birth is None or place is None or birth.kind != "factory" or operand.moves or operand.owner is not None:
            continue
        # The device may come from a caller, whose scope has the tensor.
        scopes = [scope_at(failure, each) for each in birth.places if each.owned]
        if any(_is_stray(failure, operand, each) for scope in scopes for each in scope):
            made = f"{describe(operand)} was made on {operand.device} in {place.path}:{place.line}"
            because = f"{made}, as its factory was told."
            return Blame(index, because, strength=2)
    return None


def _is_stray(failure: Failure, operand: Operand, binding: Binding) -> bool:
    """Whether a tensor lies on an operand's device, was there from its birth, and is another one."""
    if binding.kind != "tensor" or binding.device != operand.device or not binding.history:
        return False
    other = binding.history[0] != operand.history[0] and not any(event.kind == "move" for event in binding.history)
    return other and not is_meant(failure, _operand(failure, operand, binding))


def _operand(failure: Failure, operand: Operand, binding: Binding) -> Operand:
    """A tensor in scope as if it were the operand."""
    names = tuple(
        Held(number, each.expression)
        for number, frame in enumerate(failure.frames)
        for each in frame.scope
        if each.kind == "tensor" and each.history == binding.history and each.shape == binding.shape
    )
    return replace(operand, names=names, history=binding.history, shape=binding.shape, copy=None)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the tensor that the factory follows: where it is handed on, else where it comes in."""
    failure, operand = diagnosis.failure, blamed(diagnosis)
    birth = operand.birth
    stray = followed(failure, birth.places, source) if birth is not None else None
    if birth is None or stray is None or not _is_stray(failure, operand, stray):
        return
    operands = list(failure.operands)
    operands[diagnosis.blame.operand] = _operand(failure, operand, stray)
    towards = replace(diagnosis, failure=replace(failure, operands=tuple(operands)))
    because = f"It follows `{stray.expression}`, which is on {stray.device} and was never moved."
    for spot in [*_calls(failure, birth, stray), *spots(towards)]:
        if spot.kind in ("handover", "use"):
            yield from (replace(each, because=because) for each in argument_moved(towards, spot, source))
        else:
            found = result_moved(towards, spot, source)
            yield from (replace(each, because=because, safety="unsure") for each in found)


def _calls(failure: Failure, birth: Event, stray: Binding) -> Iterator[Spot]:
    """The calls through which the factory's result came back, where the tensor was handed in."""
    for place in birth.places[1:]:
        scope = scope_at(failure, place)
        names = [each.expression for each in scope if each.kind == "tensor" and each.history == stray.history]
        if place.owned and names:
            yield Spot("handover", place, scope, tuple(names))
