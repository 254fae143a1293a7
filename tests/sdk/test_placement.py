"""Who put the operands where they are: the last move, else the creation, in the program's own code."""

from __future__ import annotations

from dataclasses import replace

from mismatch_factory import meeting, place

from devfix.model import Diagnosis, Event, ModuleOwner, Operand, SourceLocation
from devfix.sdk import last_placement
from devfix.sdk.trace.placement import explicitly_placed, placement_locations, placement_targets

CODE = """\
def make():
    return zeros(3)

def f(x):
    mask = make()
    sent = mask.to(0)
    return x + sent
"""
MADE, CALLED, SENT = place(CODE, "zeros(3)", "make"), place(CODE, "make()\n"[:-1]), place(CODE, "mask.to(0)")
FOREIGN = SourceLocation("/torch/nn.py", 3, "forward")
CREATION = Event("factory", "aten::zeros", "cpu", (FOREIGN, MADE, CALLED))
MOVE = Event("move", "aten::_to_copy", "cpu", (FOREIGN, SENT))


def met(*operands: Operand) -> Diagnosis:
    """`x` on the GPU meets operands on the host."""
    diagnosis, _ = meeting(CODE, "x + sent")
    first = diagnosis.failure.operands[0]
    return replace(diagnosis, failure=replace(diagnosis.failure, operands=(first, *operands)))


def operand(*history: Event, **fields: object) -> Operand:
    return Operand("other", "cpu", shape=(3,), history=history, **fields)  # type: ignore[arg-type]


def test_the_last_move_put_it_there_else_its_creation() -> None:
    earlier = replace(MOVE, places=(MADE,))
    assert last_placement(operand(CREATION, earlier, MOVE, replace(CREATION, kind="view"))) == MOVE
    assert last_placement(operand(CREATION, replace(CREATION, kind="view"))) == CREATION
    assert last_placement(operand()) is None


def test_what_the_program_placed_itself_deepest_in_the_stack_first() -> None:
    diagnosis = met(operand(CREATION), operand(replace(CREATION, places=(SENT,))))
    (frame,) = diagnosis.failure.frames
    head = replace(MADE, line=1, end_line=1)
    for stack, expected in (((frame.place,), [1, 2]), ((head, frame.place), [2, 1]), ((frame.place, head), [1, 2])):
        frames = tuple(replace(frame, place=each) for each in stack)
        found = explicitly_placed(replace(diagnosis.failure, frames=frames))
        assert [(index, each) for index, _, each in found] == [(index, (MADE, SENT)[index - 1]) for index in expected]


def test_what_a_module_holds_or_other_code_placed_is_none_of_it() -> None:
    held = operand(CREATION, owner=ModuleOwner("self", 0, "Net", "mask", "attribute"))
    foreign = operand(replace(CREATION, places=(FOREIGN,)))
    assert explicitly_placed(met(held, foreign, operand()).failure) == []
    assert [place for _, _, place in explicitly_placed(met(operand(), operand(CREATION)).failure)] == [MADE]


def test_where_the_blamed_one_was_placed() -> None:
    assert placement_locations(met(operand(CREATION))) == [FOREIGN, MADE, CALLED]
    assert placement_locations(met(operand(CREATION, MOVE))) == [FOREIGN, SENT]
    assert placement_locations(met(operand())) == []


def test_without_operands_it_is_the_stack() -> None:
    diagnosis = met()
    frame = diagnosis.failure.frames[0]
    frames = tuple(replace(frame, place=each) for each in (CALLED, MADE, FOREIGN))
    failure = replace(diagnosis.failure, operands=(), frames=frames)
    assert placement_locations(replace(diagnosis, failure=failure)) == [MADE, CALLED]


def test_the_other_operands_are_aimed_at_in_turn() -> None:
    diagnosis = met(operand(), operand(CREATION), operand(CREATION))
    assert [each.finding.operand for each in placement_targets(diagnosis)] == [1, 2, 3]
    second = replace(diagnosis, finding=replace(diagnosis.finding, operand=2))
    assert [each.finding.operand for each in placement_targets(second)] == [2, 3]
