"""Whether two failures have one cause, before and after an edit."""

from __future__ import annotations

from devfix.lines import same_cause
from devfix.model import Edit, Event, Failure, Frame, Operand, Place

BEFORE = b"lengths = make()\npacked = pack(x, lengths)\nrun(packed, state)\n"
EDIT = Edit("m.py", 2, BEFORE, BEFORE.replace(b"x, lengths", b"x, lengths.cpu()"))


def at(line: int) -> Place:
    return Place("m.py", line, "f", owned=True)


def failure(line: int, *operands: Operand) -> Failure:
    return Failure("device-mismatch", "RuntimeError", "", "aten::op", (Frame(at(line)),), operands)


MADE = Event("constant", "torch.tensor", "cuda:0", (at(1),))
LENGTHS = Operand("lengths", "cuda:0", history=(MADE,))
STATE = Operand("self", "cpu", history=(Event("factory", "aten::zeros", "cpu", (at(3),)),))


def test_a_tensor_that_comes_unmended_to_the_next_line_is_the_same_cause() -> None:
    assert same_cause(failure(2, LENGTHS), LENGTHS, failure(3, STATE, LENGTHS), [EDIT])


def test_a_tensor_that_went_through_the_edit_is_not_to_blame_for_the_next_failure() -> None:
    there, back = Event("move", "aten::_to_copy", "cpu", (at(2),)), Event("move", "aten::_to_copy", "cuda:0", (at(2),))
    order = Operand("index", "cuda:0", history=(MADE, there, back))
    assert not same_cause(failure(2, LENGTHS), LENGTHS, failure(3, STATE, order), [EDIT])
