"""A factory follows the device of a tensor that nobody moved."""

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

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
    argument,
    argument_moved,
    binding_at,
    blamed,
    describe,
    is_meant,
    last_name,
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
        scope = scope_at(failure, place)
        if any(_is_stray(failure, operand, each) for each in scope):
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
    stray = _followed(failure, operand, birth, source) if birth is not None else None
    if birth is None or stray is None or not _is_stray(failure, operand, stray):
        return
    operands = list(failure.operands)
    operands[diagnosis.blame.operand] = _operand(failure, operand, stray)
    followed = replace(diagnosis, failure=replace(failure, operands=tuple(operands)))
    because = f"It follows `{stray.expression}`, which is on {stray.device} and was never moved."
    for spot in [*_calls(failure, birth, stray), *spots(followed)]:
        if spot.kind in ("handover", "use"):
            yield from (replace(each, because=because) for each in argument_moved(followed, spot, source))
        else:
            found = result_moved(followed, spot, source)
            yield from (replace(each, because=because, safety="unsure") for each in found)


def _calls(failure: Failure, birth: Event, stray: Binding) -> Iterator[Spot]:
    """The calls through which the factory's result came back, where the tensor was handed in."""
    for place in birth.places[1:]:
        scope = scope_at(failure, place)
        names = [each.expression for each in scope if each.kind == "tensor" and each.history == stray.history]
        if place.owned and names:
            yield Spot("handover", place, scope, tuple(names))


def _followed(failure: Failure, operand: Operand, birth: Event, source: Sources) -> Binding | None:
    """The tensor whose device the factory was told: `x` for `device=x.device`, `zeros_like(x)` and `x.new_zeros(2)`."""
    place = birth.places[0]
    file = source.file(place)
    call = file.call_at(place) if file is not None else None
    node = _named(call) if call is not None else None
    if file is None or node is None:
        return None
    return binding_at(failure, place, file.code(node))


def _named(call: cst.Call) -> cst.BaseExpression | None:
    name, given = last_name(call.func), argument(call, "device")
    if given is not None:
        value = given.value
        return value.value if isinstance(value, cst.Attribute) and value.attr.value == "device" else None
    if name.startswith("new_") and isinstance(call.func, cst.Attribute):
        return call.func.value
    return call.args[0].value if name.endswith("_like") and call.args else None
