"""What an operator made for itself is told as what it was given: a name in the failing expression, or a factory."""

from __future__ import annotations

from dataclasses import replace

from devfix.model import Binding, Event, Failure, Frame, Operand, Place
from devfix.sdk.standing import with_given
from devfix.source import Sources

CODE = "valid = torch.ones(4, 1)\ntotal = loss(critic(real), {given})\n"
BORN = Event("factory", "aten::ones", "cpu", (Place("main.py", 1, "<module>", owned=True),))


def failure(given: str) -> tuple[Failure, Sources]:
    code = CODE.format(given=given)
    line = code.splitlines()[1]
    place = Place("main.py", 2, "<module>", 2, line.index("loss"), len(line), owned=True)
    scope = (
        Binding("real", "tensor", "cuda:0", shape=(4, 2)),
        Binding("other", "tensor", "cpu", shape=(4, 1)),
        Binding("valid", "tensor", "cpu", shape=(4, 1), history=(BORN,)),
    )
    own = Operand("self", "cpu", shape=(4, 1), history=(Event("factory", "aten::empty_like", "cpu", (place,)),))
    frames = (Frame(place, scope), Frame(Place("/torch/nn/functional.py", 9, "bce")))
    told = Failure("device-mismatch", "RuntimeError", "", "aten::mul_", frames, (own, Operand("other", "cuda:0")))
    return told, Sources({"main.py": code.encode()}.get)


def test_a_name_in_the_failing_expression_stands_for_it() -> None:
    operand = with_given(*failure("valid")).operands[0]
    assert [held.expression for held in operand.names] == ["valid"]
    assert operand.history == (BORN,)


def test_a_factory_in_the_call_stands_for_it_where_no_name_does() -> None:
    told, source = failure("torch.zeros(4, 1)")
    operand = with_given(told, source).operands[0]
    birth = operand.birth
    assert birth is not None and birth.op == "aten::zeros" and not operand.names
    file = source.file(birth.places[0])
    assert file is not None and file.code(file.expressions_at(birth.places[0])[0]) == "torch.zeros(4, 1)"


def test_what_another_call_in_it_was_given_does_not() -> None:
    told, source = failure("mix(torch.zeros(4, 1))")
    assert with_given(told, source) == told


def test_a_tensor_with_a_name_or_born_elsewhere_stays() -> None:
    told, source = failure("valid")
    born = replace(told.operands[0], history=(BORN,))
    elsewhere = replace(told, operands=(born, told.operands[1]))
    assert with_given(elsewhere, source) == elsewhere
