"""Whether two failures have one cause, told by the way of the blamed tensor; and lines before and after an edit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from verifier_cases import failure
from waiting import little_work

from devfix.model import Edit, Event, Failure, Frame, Operand, Outcome, Run, SourceLocation, World
from devfix.verification.edit_map import (
    blocks,
    fails_in_edits,
    has_same_root_cause,
    is_edited,
    is_turned_round,
    location_before,
    undoes_needed_move,
)


@pytest.fixture(autouse=True)
def _unknown() -> None:
    """Each test finds nothing known of edits that others have made: what is remembered would hide a fault."""
    blocks.cache_clear()


def at(
    line: int, column: int | None = 2, end_column: int | None = 7, end: int | None = None, **other: str
) -> SourceLocation:
    named = {"path": "m.py", "function": "f", **other}
    return SourceLocation(named["path"], line, named["function"], end or line, column, end_column, owned=True)


CREATION = Event("factory", "aten::zeros", "cpu", (at(1),))
CUT = Event("view", "aten::select", "cpu", (at(2),))


def fails(*history: Event, place: SourceLocation | None = None, device: str = "cpu") -> Failure:
    plain = failure(3, 1, 10)
    frames = (replace(plain.frames[0], place=place or at(3, 4, 20)),)
    return replace(plain, frames=frames, operands=(plain.operands[0], Operand("other", device, history=history)))


def same(before: Failure, after: Failure) -> bool:
    return has_same_root_cause(before, before.operands[1], after, [])


def test_two_tensors_cut_from_one_are_two() -> None:
    other = replace(CUT, places=(at(2, 9, 14),))
    assert same(fails(CREATION, CUT), fails(CREATION, CUT))
    assert not same(fails(CREATION, CUT), fails(CREATION, other))
    assert not same(fails(CREATION, CUT), fails(CREATION)), "it never came that far"
    assert same(fails(CREATION), fails(CREATION, CUT)), "what was made of it is it"
    for op in ("aten::slice", "aten::abs", "aten::view"):
        assert not same(fails(CREATION, CUT), fails(CREATION, replace(CUT, op=op)))


@pytest.mark.parametrize(
    ("inner", "counts"),
    [
        (at(3, 5, 9), False),
        (at(3, 4, 20), False),
        (at(3, 3, 9), True),
        (at(3, 5, 21), True),
        (at(2, 5, 9), True),
        (at(4, 1, 2), True),
        (at(3, 5, 9, path="n.py"), True),
        (at(3, 5, 9, path="a.py"), True),
        (at(3, 5, 9, function="g"), True),
        (at(3, None, 9), True),
    ],
)
def test_what_the_failing_expression_does_to_it_is_no_part_of_its_way(inner: SourceLocation, counts: bool) -> None:
    assert same(fails(CREATION, Event("op", "aten::to", "cpu", (inner,))), fails(CREATION)) is not counts


def test_an_expression_of_several_lines() -> None:
    whole = at(3, 4, 2, 5)
    for inner, counts in ((at(4, 0, 50), False), (at(5, 0, 2), False), (at(5, 0, 3), True), (at(3, 5, 9, 6), True)):
        before = fails(CREATION, Event("op", "aten::to", "cpu", (inner,)), place=whole)
        assert same(before, fails(CREATION)) is not counts
    unknown = replace(whole, column=None)
    assert not same(fails(CREATION, replace(CUT, places=(at(4),)), place=unknown), fails(CREATION))


def test_the_creation_itself_always_counts() -> None:
    created_there = replace(CREATION, places=(at(3, 5, 9),))
    assert same(fails(created_there), fails(created_there))
    assert not same(fails(created_there), fails(CREATION))


def test_a_device_and_a_place_are_the_same_or_not() -> None:
    before = fails(CREATION, device="cuda:1")
    for device in ("cuda:0", "cuda:2", "cpu"):
        assert not same(before, fails(CREATION, device=device))
    for place in (at(1, 9), at(1, 1), at(2), at(1, function="g"), at(1, function="e"), at(1, path="a.py")):
        assert not same(fails(CREATION), fails(replace(CREATION, places=(place,))))
    for place in (at(1, None), at(1, None, None)):
        assert same(fails(CREATION), fails(replace(CREATION, places=(place,))))
        assert same(fails(replace(CREATION, places=(place,))), fails(CREATION))


def test_a_step_without_a_place_is_one_without_a_place() -> None:
    lost = replace(CUT, places=())
    assert same(fails(CREATION, lost), fails(CREATION, lost))
    assert not same(fails(CREATION, lost), fails(CREATION, CUT)) and not same(
        fails(CREATION, CUT), fails(CREATION, lost)
    )


@pytest.mark.parametrize(
    ("line", "device", "peer", "expected"),
    [(3, "cuda:0", "cuda:1", True), (2, "cuda:0", "cuda:1", False), (3, "cuda:1", "cuda:0", False)],
    ids=["the same statement needs the move", "another line was edited", "it is where it was"],
)
def test_a_move_between_gpus_that_is_taken_back(line: int, device: str, peer: str, expected: bool) -> None:
    created = replace(CREATION, device="cuda:0")
    move = Event("move", "aten::to", "cuda:1", (at(3, 5, 9),))
    before = fails(created, move, device="cuda:1")
    after = fails(created, device=device)
    after = replace(after, operands=(replace(after.operands[0], device=peer), after.operands[1]))
    texts = [b"a\n", b"b\n", b"c\n"]
    edited = [b"new\n" if number == line else text for number, text in enumerate(texts, 1)]
    edit = Edit("m.py", line, b"".join(texts), b"".join(edited))
    assert undoes_needed_move(before, before.operands[1], after, [edit]) is expected
    helper = replace(before.operands[1], history=(created, replace(move, places=(at(2, 5, 9),))))
    assert not undoes_needed_move(before, helper, after, [edit]), "what came with it may be moved wrongly too"
    host = replace(before.operands[1], device="cpu", history=(created, replace(move, device="cpu")))
    assert not undoes_needed_move(before, host, after, [edit]), "it may have been needed on the host for something else"


MANY = b"pass\n" * 300 + b"x = 1\n" + b"pass\n" * 300


def test_long_files_of_equal_lines() -> None:
    edit = Edit("m.py", 301, MANY, MANY.replace(b"x = 1\n", b"y = 0\nx = 1\n"))
    assert location_before(at(302), [edit]).line == 301 and location_before(at(500), [edit]).line == 499
    assert [line for line in range(1, 600) if is_edited(at(line), [edit])] == [301]


def test_equal_lines_between_two_edits() -> None:
    both = Edit("m.py", 1, MANY, b"first\n" + MANY.replace(b"x = 1\n", b"y = 0\nx = 1\n") + b"last\n")
    for line, before in ((2, 1), (200, 199), (303, 301), (500, 498)):
        assert location_before(at(line), [both]).line == before
    assert [line for line in range(1, 700) if is_edited(at(line), [both])] == [1, 302, 604]


def test_lines_put_in_at_the_very_end_or_taken_out_there() -> None:
    for old, new in ((b"a\nb\n", b"a\nb\nc\n"), (b"a\nb\nc\n", b"a\nb\n")):
        assert location_before(at(2), [Edit("m.py", 3, old, new)]).line == 2
        assert not is_edited(at(2), [Edit("m.py", 3, old, new)])


def test_a_large_file_takes_little_work() -> None:
    large = b"pass\n" * 4000
    edit = Edit("m.py", 2001, large + large, large + b"new\n" + large)
    with little_work(1):
        assert not is_edited(at(2001), [edit])


def test_what_came_back_through_an_edited_line_is_another_cause() -> None:
    edit = Edit("m.py", 2, b"a\nb\nc\nd\n", b"a\nb2\nc\nd\n")
    there, back = Event("move", "aten::to", "cuda:0", (at(2),)), Event("move", "aten::to", "cpu", (at(3),))
    before = fails(CREATION)

    def is_one(*history: Event) -> bool:
        return has_same_root_cause(before, before.operands[1], fails(CREATION, *history, place=at(4, 0, 20)), [edit])

    assert is_one() and is_one(back) and is_one(replace(there, places=(at(3),)), back)
    assert not is_one(there, back), "the edit moved it, and the program moved it back"
    assert is_one(replace(there, device="cpu"), back), "that is no other device"
    assert is_one(replace(there, places=(replace(at(2), owned=False),)), back), "no line of ours"


def test_a_way_ends_before_the_failing_expression_alone() -> None:
    inside = Event("op", "aten::to", "cpu", (at(3, 5, 9),))
    assert same(fails(CREATION, CUT, inside), fails(CREATION, CUT)) and same(
        fails(CREATION, CUT, inside, inside), fails(CREATION, CUT)
    )
    assert not same(fails(CREATION, CUT, inside), fails(CREATION))


@pytest.mark.parametrize(("line", "before"), [(2, 2), (3, 3), (4, 4), (5, 4), (6, 4), (7, 5)])
def test_lines_that_were_put_in_stand_for_those_that_were_taken_out(line: int, before: int) -> None:
    edit = Edit("m.py", 2, b"a\nb\nc\nd\ne\n", b"a\n1\n2\n3\n4\n5\ne\n")
    assert location_before(at(line), [edit]).line == before


def test_two_places_on_one_edited_line_stay_two() -> None:
    old, new = b"a, b = zeros(3), zeros(3)\n", b"a, b = zeros(3, device=x.device), zeros(3)\n"
    first, second = at(1, 7, 32), at(1, 34, 42)
    edit = Edit("m.py", 1, old, new)
    assert [location_before(each, [edit]).column for each in (first, second)] == [7, 17]
    inside = at(1, 16, 31)
    assert location_before(inside, [edit]).column is None
    apart = Edit("m.py", 1, old, b"a = zeros(3)\nb = zeros(3)\n")
    assert location_before(at(1, 4, 12), [apart]).column is None, "one line became two"
    creations = [replace(CREATION, places=(replace(at(1), column=column),)) for column in (7, 17)]
    before, after = fails(creations[0]), fails(replace(CREATION, places=(second,)))
    assert not has_same_root_cause(before, before.operands[1], after, [edit])
    again = fails(replace(CREATION, places=(first,)))
    assert has_same_root_cause(before, before.operands[1], again, [edit])


@pytest.mark.parametrize("above", [b"", b"import d\n"])
@pytest.mark.parametrize(
    ("old", "new", "column", "before"),
    [
        (b"a = zeros(3)\n", b"a = zeros(3, device=d)\n", 0, 0),
        (b"a = zeros(3)\n", b"a = zeros(3, device=d)\n", 4, 4),
        (b"a = zeros(3)\n", b"a = zeros(3, device=d)\n", 11, None),
        (b"a = zeros(3)\n", b"a = zeros(3, device=d)\n", 21, 11),
        (b"a b\n", b"axx\n", 0, 0),
        (b"f(" + b"1, " * 80 + b")\n", b"g[d, " + b"1, " * 80 + b"d]\n", 35, 32),
    ],
)
def test_a_column_is_that_of_the_text_that_stood_there(
    above: bytes, old: bytes, new: bytes, column: int, before: int | None
) -> None:
    edit = Edit("m.py", 1, above + old, above + new)
    line = above.count(b"\n") + 1
    found = location_before(at(line, column, column + 1), [edit])
    assert (found.line, found.column) == (line, before)


def test_a_run_that_fails_in_an_edited_line_by_its_own_fails_by_the_edit() -> None:
    edit = Edit("m.py", 2, b"a\nb\nc\n", b"a\nb.to(net.device)\nc\n")
    broken = replace(failure(2, 1, 5), kind="other", frames=(Frame(SourceLocation("m.py", 2, "f")),))
    run = Run(World("simulated", 2), ("python",), Outcome.OTHER, 1, 1.0, failure=broken)
    assert fails_in_edits(run, [edit])
    assert not fails_in_edits(
        replace(run, failure=replace(broken, frames=(Frame(SourceLocation("m.py", 3, "f")),))), [edit]
    )
    assert not fails_in_edits(replace(run, outcome=Outcome.FAILED), [edit])


def test_devices_that_are_exchanged_where_it_failed() -> None:
    def met(first: str, second: str, line: int = 3) -> Failure:
        plain = fails(CREATION, place=at(line, 4, 20))
        return replace(plain, operands=(Operand("self", first), Operand("other", second)))

    before = met("cuda:0", "cpu")
    assert is_turned_round(before, met("cpu", "cuda:0"), [])
    assert not is_turned_round(before, met("cuda:0", "cpu"), []), "nothing has changed"
    assert not is_turned_round(before, met("cuda:0", "cuda:0"), []), "another operand is wrong"
    assert not is_turned_round(before, met("cpu", "cuda:0", line=4), []), "another expression"
    assert not is_turned_round(before, met("cuda:1", "cuda:0"), []) and not is_turned_round(before, None, [])
