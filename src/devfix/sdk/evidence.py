"""Ask a failure who met whom, and who is likely to be wrong."""

from __future__ import annotations

from collections.abc import Iterator

from devfix.model import Diagnosis, Failure, Held, Operand, Place


def blamed(diagnosis: Diagnosis) -> Operand:
    """The operand that the rule blames."""
    return diagnosis.failure.operands[diagnosis.blame.operand]


def target_device(diagnosis: Diagnosis) -> str:
    """The device on which the blamed operand should be: the blame's own word, else its peer's device, else ""."""
    if diagnosis.blame.device:
        return diagnosis.blame.device
    other = peer(diagnosis)
    return other.device if other else ""


def peer(diagnosis: Diagnosis) -> Operand | None:
    """The operand that the blamed one met: the first on another device, those with elements and dimensions first."""
    wrong = blamed(diagnosis)
    others = [each for each in diagnosis.failure.operands if each.device != wrong.device]
    return min(others, key=lambda each: not each.shape, default=None)


def strangers(failure: Failure) -> Iterator[tuple[int, Operand, Operand]]:
    """Each operand that may be wrong, as (index, operand, peer), the ones on the host first.

    A 0-dim tensor on the host is legal in most operators, so such operands come last.
    """
    pairs = [
        (index, operand, other)
        for index, operand in enumerate(failure.operands)
        if (other := _other(failure, operand)) is not None
    ]
    yield from sorted(pairs, key=lambda pair: (pair[1].device != "cpu", not pair[1].shape))


def _other(failure: Failure, operand: Operand) -> Operand | None:
    others = [each for each in failure.operands if each.device != operand.device]
    return min(others, key=lambda each: not each.shape, default=None)


def birthplace(operand: Operand) -> Place | None:
    """Where owned code called the factory itself; None where the tensor was born deeper, in foreign code."""
    birth = operand.birth
    if birth is None or not birth.places or not birth.places[0].owned:
        return None
    return birth.places[0]


def names_in(operand: Operand, frame: int) -> list[Held]:
    """The expressions that hold an operand in a frame, the operand itself before what it was derived from."""
    order = {"same": 0, "storage": 1, "source": 2}
    held = [each for each in operand.names if each.frame == frame]
    return sorted(held, key=lambda each: (order.get(each.relation, 3), len(each.expression)))


def was_moved_to(operand: Operand, device_type: str) -> Place | None:
    """The owned place where somebody moved the operand to a kind of device on purpose; None where nobody did."""
    for event in reversed(operand.moves):
        place = event.owned_place
        if event.device.split(":")[0] == device_type and place is not None:
            return place
    return None


def describe(operand: Operand) -> str:
    """A short name of an operand for sentences: its own name where it has one, else its argument's."""
    names = sorted(operand.names, key=lambda each: (each.relation != "same", -each.frame, len(each.expression)))
    return f"`{names[0].expression}`" if names else f"argument `{operand.argument}`"
