"""What an operator made for itself is told as what it was given: a name in the failing expression, or a factory."""

from __future__ import annotations

from dataclasses import replace

from devfix.diagnosis.resolve_temporaries import resolve_temporaries
from devfix.model import Event, Failure, Frame, NameRef, Operand, ScopeVariable, SourceLocation
from devfix.sdk import is_written_to
from devfix.source import Sources

CODE = "valid = torch.ones(4, 1)\ntotal = loss(critic(real), {given})\n"
CREATED = Event("factory", "aten::ones", "cpu", (SourceLocation("main.py", 1, "<module>", owned=True),))


def failure(given: str) -> tuple[Failure, Sources]:
    code = CODE.format(given=given)
    line = code.splitlines()[1]
    place = SourceLocation("main.py", 2, "<module>", 2, line.index("loss"), len(line), owned=True)
    scope = (
        ScopeVariable("real", "tensor", "cuda:0", shape=(4, 2)),
        ScopeVariable("other", "tensor", "cpu", shape=(4, 1)),
        ScopeVariable("valid", "tensor", "cpu", shape=(4, 1), history=(CREATED,)),
    )
    created = Event("factory", "aten::empty_like", "cpu", (place, CREATED.places[0]))
    own = Operand("self", "cpu", shape=(4, 1), history=(created,))
    outer = Frame(SourceLocation("main.py", 9, "run", owned=True))
    frames = (outer, Frame(place, scope), Frame(SourceLocation("/torch/nn/functional.py", 9, "bce")))
    known = Failure("device-mismatch", "RuntimeError", "", "aten::mul_", frames, (own, Operand("other", "cuda:0")))
    return known, Sources({"main.py": code.encode()}.get)


def test_a_name_in_the_failing_expression_stands_for_it() -> None:
    operand = resolve_temporaries(*failure("valid")).operands[0]
    assert operand.names == (NameRef(1, "valid"),)
    assert operand.history == (CREATED,)


def test_a_name_is_not_what_the_operator_writes_into() -> None:
    known, source = failure("valid")
    assert is_written_to(known, known.operands[0])
    assert not is_written_to(known, resolve_temporaries(known, source).operands[0])
    added = replace(known, op="aten::mul")
    assert resolve_temporaries(added, source).operands[0].argument == "self"


def test_of_several_names_one_of_its_shape_and_a_short_one_stands_for_it() -> None:
    known, source = failure("a, valid2, valid")
    wide, other = (
        ScopeVariable("a", "tensor", "cpu", shape=(9,)),
        ScopeVariable("valid2", "tensor", "cpu", shape=(4, 1)),
    )
    assert resolved(known, source, wide, other, *known.frames[1].scope).names == (NameRef(1, "valid"),)
    assert resolved(known, source, wide).shape == (9,)


def resolved(known: Failure, source: Sources, *scope: ScopeVariable) -> Operand:
    frames = (known.frames[0], replace(known.frames[1], scope=scope), known.frames[2])
    return resolve_temporaries(replace(known, frames=frames), source).operands[0]


def test_a_factory_in_the_call_stands_for_it_where_no_name_does() -> None:
    known, source = failure("torch.zeros(4, 1)")
    operand = resolve_temporaries(known, source).operands[0]
    creation = operand.creation
    assert creation is not None and creation.op == "aten::zeros" and not operand.names
    assert creation.places[0].function == "<module>" and creation.places[1:] == CREATED.places
    file = source.file(creation.places[0])
    assert file is not None and file.code(file.expressions_at(creation.places[0])[0]) == "torch.zeros(4, 1)"


def test_what_another_call_in_it_was_given_does_not() -> None:
    known, source = failure("mix(torch.zeros(4, 1))")
    assert resolve_temporaries(known, source) == known


def test_a_tensor_with_a_name_or_created_elsewhere_stays() -> None:
    known, source = failure("valid")
    created = replace(known.operands[0], history=(CREATED,))
    named = replace(known.operands[0], names=(NameRef(1, "valid"),))
    moved = replace(known.operands[0], history=(*known.operands[0].history, Event("move", "aten::_to_copy", "cpu")))
    nowhere = replace(known.operands[0], history=(replace(CREATED, places=()),))
    for each in (created, named, moved, nowhere, replace(named, history=())):
        elsewhere = replace(known, operands=(each, known.operands[1]))
        assert resolve_temporaries(elsewhere, source) == elsewhere
    owned = replace(known, frames=known.frames[:2])
    assert resolve_temporaries(owned, source) == owned


def test_a_factory_that_names_a_device_or_makes_something_on_a_gpu_does_not() -> None:
    known, source = failure("torch.zeros(4, 1, device=d)")
    assert resolve_temporaries(known, source) == known
    known, source = failure("torch.zeros(4, 1)")
    operands = (replace(known.operands[0], device="cuda:0"), known.operands[1])
    gpu = replace(known, operands=operands, frames=(known.frames[0], Frame(known.frames[1].place), known.frames[2]))
    assert resolve_temporaries(gpu, source) == gpu


def test_what_cannot_be_read_stays() -> None:
    known, _ = failure("valid")
    assert resolve_temporaries(known, Sources({}.get)) == known
    place = SourceLocation("main.py", 4, "<module>", owned=True)
    lost = replace(known.operands[0], history=(replace(known.operands[0].history[0], places=(place,)),))
    frames = (known.frames[0], Frame(place, known.frames[1].scope), known.frames[2])
    lost_told = replace(known, operands=(lost, known.operands[1]), frames=frames)
    assert resolve_temporaries(lost_told, Sources({"main.py": b"x = 1\n\n\n\n"}.get)) == lost_told
