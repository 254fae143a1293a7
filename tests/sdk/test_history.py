"""How a tensor came to be, which of that still runs, and what a loop handed out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from mismatch_factory import X, main, meeting, place, tensor

from devfix.model import Diagnosis, Event, Failure, NameRef, Operand, ScopeVariable, SourceLocation
from devfix.sdk import is_created_where_used, is_loop_variable, last_data_event, loop_event, preserves_data
from devfix.sdk.trace.history import frame_of, is_created_in_reach
from devfix.sdk.trace.loop_values import loop_variable_frame
from devfix.sdk.trace.sites import fix_sites, scope_at

LOOP = """def f(x, loader):
    for mask in loader:
        y = x + 1
        x + mask
def load(path):
    return torch.load(path)
"""
FOR = replace(place(LOOP, LOOP[LOOP.index("mask in") : LOOP.index("\ndef load")]), loop=True)
READ, CAST = (place(LOOP, "torch.load(path)", function) for function in ("load", "f"))
FOREIGN = SourceLocation("/torch/data.py", 7, "fetch", 9, 4, 8)


def event(at: SourceLocation | None, kind: str = "op", op: str = "aten::mul", *outer: SourceLocation) -> Event:
    return Event(kind, op, "cpu", ((at, *outer) if at is not None else ()))


def met(
    code: str, failing: str, *history: Event, scope: Sequence[ScopeVariable] = ()
) -> tuple[Failure, Operand, Diagnosis]:
    diagnosis, _ = meeting(code, failing, history=history, scope=scope)
    return diagnosis.failure, diagnosis.failure.operands[1], diagnosis


@pytest.mark.parametrize(
    ("kind", "op", "expected"),
    [
        ("move", "cuda", True),  # of a module: the probe tells the method's name
        ("view", "aten::slice", True),
        ("parameter", "parameter", True),
        ("op", "aten::clone", True),
        ("op", "copy.deepcopy", True),
        ("op", "aten::clone_of", False),
        ("factory", "aten::zeros", False),
    ],
)
def test_a_cast_a_copy_a_view_and_a_move_keep_the_data(kind: str, op: str, expected: bool) -> None:
    assert preserves_data(Event(kind, op, "cpu")) is expected


def test_the_maker_is_the_last_that_made_new_data() -> None:
    zeros, scaled = event(READ, "factory", "aten::zeros"), event(READ, "op", "aten::mul")
    moved, kept = event(READ, "move", "cuda"), event(READ, "parameter", "parameter")
    every = Operand("other", "cpu", history=(zeros, scaled, moved, kept))
    assert last_data_event(every) is scaled
    assert last_data_event(replace(every, history=(kept, moved))) is kept
    assert last_data_event(replace(every, history=())) is None


@pytest.mark.parametrize(
    ("code", "loop", "failing"),
    [
        (LOOP, "mask in loader:\n        y = x + 1\n        x + mask", "x + 1"),
        (LOOP, "mask in loader:\n        y = x + 1\n        x + mask", "x + mask"),
        ("def f(x, loader):\n    for mask in loader: x + mask\n", "mask in loader: x + mask", "x + mask"),
        ("def f(x, loader):\n    y = [x + mask for mask in loader]\n", "x + mask for mask", "x + mask"),
    ],
)
def test_a_loop_around_what_runs_hands_out(code: str, loop: str, failing: str) -> None:
    turn = replace(place(code, loop), loop=True)
    failure, operand, _ = met(code, failing, event(READ, "load", "torch.load", FOREIGN, turn), event(READ))
    assert loop_event(failure, operand) == 0
    # Python 3.10 knows lines alone.
    frames = [replace(each, place=lines(each.place)) for each in failure.frames]
    operand = replace(operand, history=(event(READ, "load", "torch.load", FOREIGN, lines(turn)), event(READ)))
    assert loop_event(replace(failure, frames=tuple(frames)), operand) == 0


def test_an_expression_around_a_comprehension_is_not_in_it() -> None:
    code = "[x + mask for mask in loader] + mask\n"
    turn = replace(place(code, "x + mask for mask in loader"), loop=True)
    for failing, expected in (("x + mask", 0), (code.strip(), None), ("[x + mask for mask in loader", None)):
        failure, operand, _ = met(code, failing, event(READ, "load", "torch.load", turn))
        assert loop_event(failure, operand) == expected


def lines(at: SourceLocation) -> SourceLocation:
    return replace(at, column=None, end_column=None)


@pytest.mark.parametrize(
    "at",
    [
        FOREIGN,
        replace(FOR, loop=False),  # a call over several lines, of which an argument fails the next time
        replace(FOR, function="g"),
        replace(FOR, end_line=3),
        replace(FOR, end_column=15),
        replace(FOR, line=4, column=9),
        replace(FOR, line=4, column=9, end_line=None),
    ],
)
def test_what_no_running_loop_spans_was_not_handed_out(at: SourceLocation) -> None:
    failure, operand, _ = met(LOOP, "x + mask", event(READ, "load", "torch.load", at))
    assert loop_event(failure, operand) is None


def test_a_loop_hands_nothing_out_while_it_asks_for_the_next_item() -> None:
    failure, operand, _ = met(LOOP, "x + mask", event(READ, "load", "torch.load", FOR))
    failure = replace(failure, frames=(replace(failure.frames[0], place=FOR),))
    assert loop_event(failure, operand) is None


def test_a_frame_is_the_deepest_of_its_function() -> None:
    failure, _, _ = met(LOOP, "x + mask")
    twice = replace(failure, frames=failure.frames * 2)
    assert frame_of(twice, FOR) == 1
    assert frame_of(twice, READ) is None
    assert frame_of(twice, replace(FOR, function="f.<locals>.<listcomp>")) == 1
    over = replace(failure.frames[0], place=replace(FOR, function="<genexpr>"))
    assert frame_of(replace(failure, frames=(over, *failure.frames)), replace(READ, function="<module>")) == 0


def test_a_tensor_is_created_where_it_is_used_while_all_its_makers_run() -> None:
    here, there = event(CAST, "factory", "aten::zeros"), event(READ, "factory", "aten::zeros")
    for history, expected in (
        ((here,), True),
        ((here, event(CAST)), True),
        ((here, event(READ)), False),
        ((here, event(READ, "view", "aten::slice")), True),
        ((event(None), here), False),
        ((event(CAST, "view", "aten::slice"), event(READ, "view", "aten::slice")), True),
        ((there,), False),
        ((event(FOREIGN, "factory", "aten::zeros", CAST),), False),
        ((event(CAST, "load", "torch.load", FOR),), False),
        ((), False),
    ):
        failure, operand, _ = met(LOOP, "x + mask", *history)
        assert is_created_where_used(failure, operand) is expected, history


def test_it_is_created_in_reach_of_a_device_that_its_function_had_at_hand() -> None:
    far = replace(READ, line=5)
    for history, device, expected in (
        ((event(CAST, "factory", "aten::zeros"),), "cuda:1", True),
        ((event(READ),), "cuda:0", True),
        ((event(READ),), "cuda:1", False),
        ((event(READ, "load", "torch.load", FOR),), "cuda:0", False),
        ((event(FOREIGN, "op", "aten::mul", READ),), "cuda:0", False),
        ((event(replace(READ, function="load.<locals>.<genexpr>")),), "cuda:0", True),
        ((event(None),), "cuda:0", False),
        ((), "cuda:0", False),
    ):
        failure, operand, _ = met(LOOP, "x + mask", *history)
        seen = replace(failure, scopes=((far, (X,)), (FOREIGN, (replace(X, device="cuda:1"),))))
        assert is_created_in_reach(seen, operand, device) is expected, (history, device)


def kinds_and_lines(diagnosis: Diagnosis) -> list[tuple[str, int]]:
    return [(site.kind, site.place.line) for site in fix_sites(diagnosis)]


def test_sites_follow_the_data() -> None:
    inner, outer = place(LOOP, "y = x + 1", "g"), place(LOOP, "def f(x, loader)", "<module>")
    cast = event(CAST, "op", "aten::_to_copy")
    _, _, diagnosis = met(LOOP, "x + mask", event(READ, "load", "torch.load", outer), cast)
    frames = diagnosis.failure.frames
    failure = replace(diagnosis.failure, frames=(replace(frames[0], place=inner), *frames))
    diagnosis = replace(diagnosis, failure=failure)
    assert kinds_and_lines(diagnosis) == [("creation", 6), ("returned", 1), ("argument", 3), ("derived", 6), ("use", 4)]


def test_what_a_function_derives_comes_once_where_it_first_runs() -> None:
    inner = event(replace(CAST, function="f.<locals>.<listcomp>"), "op", "aten::_to_copy")
    _, _, diagnosis = met(LOOP, "x + mask", event(READ, "factory", "aten::zeros"), inner)
    failure = diagnosis.failure
    again = replace(failure.frames[0], place=place(LOOP, "y = x + 1"))
    between = replace(again, place=replace(again.place, function="f.<locals>.<listcomp>"))
    nested = replace(diagnosis, failure=replace(failure, frames=(again, between, *failure.frames)))
    assert kinds_and_lines(nested) == [("creation", 6), ("derived", 6), ("argument", 3), ("argument", 3), ("use", 4)]


def test_before_the_loop_that_handed_a_tensor_out_there_is_no_site() -> None:
    made = event(READ, "load", "torch.load")
    stacked, cast = event(FOREIGN, "op", "aten::stack", FOR), event(CAST, "view", "aten::slice")
    _, _, diagnosis = met(LOOP, "x + mask", made, event(READ, "view", "aten::slice"), stacked, cast)
    assert kinds_and_lines(diagnosis) == [("derived", 6), ("use", 4)]
    _, _, diagnosis = met(LOOP, "x + mask", event(READ, "load", "torch.load", FOR), cast)
    assert kinds_and_lines(diagnosis) == [("creation", 6), ("returned", 2), ("derived", 6), ("use", 4)]


def test_sites_begin_behind_what_made_new_data() -> None:
    views = [event(place(LOOP, text), "view", "aten::slice") for text in ("y = x", "loader:", "x, ")]
    made = event(READ, "factory", "aten::zeros")
    _, _, diagnosis = met(LOOP, "x + mask", made, views[0], event(READ), views[1], event(READ), views[2])
    assert kinds_and_lines(diagnosis) == [("creation", 6), ("derived", 1), ("use", 4)]


def test_the_scope_of_the_line_itself_comes_first() -> None:
    failure, _, _ = met(LOOP, "x + mask")
    y, z = tensor("y"), tensor("z")
    elsewhere = replace(READ, line=3)
    seen = replace(failure, scopes=((elsewhere, (y,)), (READ, (z,)), (replace(CAST, line=4), (z,))))
    assert scope_at(seen, READ) == (z,)
    assert scope_at(seen, elsewhere) == (y,)
    assert scope_at(seen, replace(READ, line=5)) == (y,)
    assert scope_at(seen, replace(CAST, line=4)) == (z,)
    assert scope_at(seen, CAST) == failure.frames[0].scope
    assert scope_at(seen, FOREIGN) == ()


TURN = """def f(x, loader):
    for y, mask in loader:
        {}
        x + mask
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y = mask", True),
        ("mask[0] = y", True),
        ("mask.grad = None", True),
        ("mask += 1", True),
        ("del mask", True),
        ("mask: Tensor", True),
        ("mask = zeros(3)", False),
        ("y, mask = y.cuda(), zeros(3)", False),
        ("y, (*mask, z) = y", False),
        ("[y, mask] = y", False),
        ("mask: Tensor = zeros(3)", False),
        ("y = (mask := zeros(3))", False),
        ("with read(y) as mask: pass", False),
        ("with read(y) as (mask, z): pass", False),
    ],
)
def test_an_iteration_yields_what_the_loop_does_not_rebind(line: str, expected: bool) -> None:
    file = main(TURN.format(line))
    (running,) = file.find(file.module, "x + mask")
    assert is_loop_variable(file, running, "mask") is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("while True:\n    x + mask\n", False),
        ("for mask in loader:\n    while True:\n        x + mask\n", True),
        ("for mask in loader:\n    for y in mask:\n        x + mask\n", True),
        ("for mask in loader:\n    pass\nx + mask\n", False),
        ("[x + mask for mask in loader]\n", True),
        ("{x + mask: 1 for _, (y, mask) in loader}\n", True),
        ("sum(x + mask for y in loader for mask in y)\n", True),
        ("[[x + mask for y in mask] for mask in loader]\n", True),
        ("[x + mask for y in loader if mask]\n", False),
        ("for mask in loader:\n    [x + mask for mask in mask]\n    mask = 1\n", True),
        ("for mask in loader:\n    def f(): x + mask\n", False),
        ("for mask in loader:\n    f = lambda: x + mask\n", False),
        ("for mask in loader:\n    class A:\n        x + mask\n", False),
        ("for mask in loader:\n    for mask in mask:\n        x + mask\n", True),
    ],
)
def test_the_innermost_loop_that_binds_it_counts(code: str, expected: bool) -> None:
    file = main(code)
    (running,) = file.find(file.module, "x + mask")
    assert is_loop_variable(file, running, "mask") is expected


def test_the_outermost_frame_whose_loop_hands_it_out() -> None:
    code = TURN.format("g(mask)") + "def g(rows):\n    for row in rows:\n        h(row)\n"
    diagnosis, source = meeting(code, "x + mask")
    failure = diagnosis.failure
    inner = replace(failure.frames[0], place=place(code, "h(row)", "g"))
    outer = replace(failure.frames[0], place=place(code, "g(mask)"))
    foreign = replace(inner, place=FOREIGN)
    held = {0: "mask", 1: "rows", 2: "self.row", 3: "row"}
    names = tuple(NameRef(number, name) for number, name in held.items())
    operand = replace(failure.operands[1], names=names)
    failure = replace(failure, operands=(failure.operands[0], operand), frames=(foreign, outer, foreign, inner))
    diagnosis = replace(diagnosis, failure=failure)
    assert loop_variable_frame(diagnosis, source) == 3
    held[1] = "mask"
    names = tuple(NameRef(number, name) for number, name in held.items())
    failure = replace(failure, operands=(failure.operands[0], replace(operand, names=names)))
    assert loop_variable_frame(replace(diagnosis, failure=failure), source) == 1
    unnamed = replace(failure, operands=(failure.operands[0], replace(operand, names=())))
    assert loop_variable_frame(replace(diagnosis, failure=unnamed), source) is None


def test_a_number_that_a_loop_takes_from_a_tensor_is_where_that_is() -> None:
    taken = event(READ, "view", "aten::unbind")
    number, row = (ScopeVariable("mask", "tensor", "cpu", shape=shape) for shape in ((), (3,)))
    for history, seen, expected in (((taken,), number, None), ((taken,), row, 0), ((event(READ),), number, 0)):
        _, _, diagnosis = met(LOOP, "x + mask", *history, scope=[seen])
        assert loop_variable_frame(diagnosis, meeting(LOOP, "x + mask")[1]) == expected
