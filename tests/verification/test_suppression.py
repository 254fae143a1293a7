"""Which patches hide a failure, and where a place stands before and after an edit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from verifier_cases import CPU, HOME, failure, make_run

from devfix.model import Edit, Failure, Operand, OperatorCount, Outcome, Run, SourceLocation
from devfix.verification.checks.suppression import detect_suppression, fails_at_same_site, locations_after, still_fails
from devfix.verification.edit_map import blocks, has_same_root_cause, is_edited, location_before

BEFORE = b"one\ntwo\nthree\nfour\nfive\n"
ADD = "aten::add"


@pytest.fixture(autouse=True)
def _unknown() -> None:
    """Each test finds nothing known of edits that others have made: what is remembered would hide a fault."""
    blocks.cache_clear()


def edit(after: bytes, path: str = "m.py") -> Edit:
    return Edit(path, 1, BEFORE, after)


def at(line: int, end: int | None = None, path: str = "m.py") -> SourceLocation:
    return SourceLocation(path, line, "f", end, 2, 7, owned=True)


def spans(places: tuple[SourceLocation, ...]) -> list[tuple[int, int | None]]:
    assert all(place.column is None and place.end_column is None for place in places)
    return [(place.line, place.end_line) for place in places]


@pytest.mark.parametrize(
    ("place", "after", "lines"),
    [
        (at(3), BEFORE, [(3, 3)]),
        (at(3), b"zero\n" + BEFORE, [(4, 4)]),
        (at(3, 4), b"zero\n" + BEFORE, [(4, 5)]),
        (at(3), BEFORE.replace(b"three", b"3\n3b\n3c"), [(3, 5)]),
        (at(2, 3), BEFORE.replace(b"three", b"3\n3b"), [(2, 2), (3, 4)]),
        (at(3), BEFORE.replace(b"three\n", b""), []),
        (at(3), b"three b\n" + BEFORE.replace(b"three\n", b""), [(1, 1)]),
        (at(5), BEFORE.replace(b"two\n", b""), [(4, 4)]),
        (at(1), b"zero\n" + BEFORE, [(2, 2)]),
    ],
)
def test_where_a_place_stands_after_an_edit(place: SourceLocation, after: bytes, lines: list[tuple[int, int]]) -> None:
    assert spans(locations_after(place, [edit(after)])) == lines


def test_a_file_that_is_not_edited_keeps_its_places() -> None:
    for name in ("n.py", "a.py"):
        assert spans(locations_after(at(3, 4, name), [edit(b"")])) == [(3, 4)]
        assert location_before(at(3, path=name), [edit(b"zero\n" + BEFORE)]).line == 3
        assert spans(locations_after(at(3), [edit(b"", name), edit(b"zero\n" + BEFORE)])) == [(4, 4)]


@pytest.mark.parametrize(
    ("line", "after", "before"),
    [(4, b"zero\n" + BEFORE, 3), (2, BEFORE.replace(b"one\n", b""), 3), (3, BEFORE.replace(b"three", b"3\n3b"), 3)],
)
def test_where_a_place_stood_before_an_edit(line: int, after: bytes, before: int) -> None:
    assert location_before(at(line), [edit(after)]).line == before


def test_columns_are_known_only_where_a_line_was_not_edited() -> None:
    moved = location_before(at(5, 6), [edit(b"zero\n" + BEFORE)])
    assert (moved.line, moved.end_line, moved.column, moved.end_column) == (4, 5, 2, 7)
    edited = location_before(at(3, 3), [edit(BEFORE.replace(b"three", b"3"))])
    assert (edited.line, edited.end_line, edited.column, edited.end_column) == (3, None, None, None)
    far = location_before(at(5), [edit(BEFORE.replace(b"three", b"3\n3b\n3c"))])
    assert far.line == 3, "of lines that were put in, the last stand for the last that were taken out"
    foreign = replace(at(5), owned=False)
    assert location_before(foreign, [edit(b"zero\n" + BEFORE)]) is foreign
    assert location_before(at(99), [edit(b"zero\n" + BEFORE)]).line == 99


def test_which_lines_an_edit_changed() -> None:
    after = [edit(b"zero\n" + BEFORE.replace(b"three", b"3\n3b"))]
    assert [line for line in range(1, 9) if is_edited(at(line), after)] == [1, 4, 5]
    assert not is_edited(at(1, path="n.py"), after) and not is_edited(at(1, path="a.py"), after)


FIRST = failure(3, 1, 10)
WRONG = FIRST.operands[1]


def test_one_cause_is_one_creation_on_one_device() -> None:
    assert has_same_root_cause(FIRST, WRONG, failure(4, 1, 11), [])
    assert not has_same_root_cause(FIRST, WRONG, failure(4, 2, 11), [])
    elsewhere = replace(WRONG, device="cuda:1")
    assert not has_same_root_cause(FIRST, WRONG, replace(failure(4, 1, 11), operands=(elsewhere,)), [])
    assert not has_same_root_cause(FIRST, WRONG, replace(failure(4, 1, 11), operands=(Operand("x", "cpu"),)), [])


def test_without_a_creation_one_place_is_one_cause() -> None:
    for wrong in (None, Operand("other", "cpu")):
        assert has_same_root_cause(FIRST, wrong, failure(3, 2, 11), [])
        assert not has_same_root_cause(FIRST, wrong, failure(4, 1, 11), [])
        assert not has_same_root_cause(FIRST, wrong, Failure("other", "E", ""), [])
        assert not has_same_root_cause(Failure("other", "E", ""), wrong, FIRST, [])


def run(*visits: OperatorCount, failed: Failure | None = None, handled: Failure | None = None) -> Run:
    return replace(make_run(HOME, failed), operator_counts=visits, handled=(handled,) if handled else ())


FAILS = run(OperatorCount(ADD, 2, 1), OperatorCount("aten::mul", 5, 0), failed=FIRST)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (run(OperatorCount(ADD, 3, 0)), ""),
        (run(OperatorCount("aten::add_", 3, 0)), ""),
        (run(OperatorCount(ADD, 2, 0)), "does not run any more"),
        (run(), "does not run any more"),
        (run(OperatorCount("aten::mul", 9, 0)), ""),
        (run(OperatorCount(ADD, 1, 0)), "does not run any more"),
        (run(OperatorCount("aten::mul", 1, 0)), "does not run any more"),
        (run(OperatorCount("aten::_to_copy", 9, 0)), "does not run any more"),
        (run(OperatorCount(ADD, 3, 1)), "raised as before, and caught"),
        (run(OperatorCount(ADD, 3, 0), handled=failure(4, 1, 11)), "raised as before, and caught"),
        (run(OperatorCount(ADD, 3, 0), handled=failure(4, 2, 11)), ""),
        (run(OperatorCount(ADD, 2, 1), failed=failure(3, 2, 11)), ""),
        (run(OperatorCount(ADD, 2, 2), failed=failure(3, 2, 11)), "raised as before, and caught"),
        (run(OperatorCount(ADD, 2, 0), failed=failure(4, 2, 11)), "does not run any more"),
        (run(OperatorCount(ADD, 3, 0), failed=failure(4, 2, 11)), ""),
    ],
)
def test_what_a_run_tells_of_a_hidden_failure(after: Run, said: str) -> None:
    found = detect_suppression(FAILS, WRONG, after, [])
    assert said in found and bool(said) == bool(found)


def test_what_the_program_itself_caught_before_is_not_the_patch() -> None:
    before = run(OperatorCount(ADD, 2, 3), failed=FIRST)
    assert not detect_suppression(before, WRONG, run(OperatorCount(ADD, 3, 2)), [])
    assert detect_suppression(before, WRONG, run(OperatorCount(ADD, 3, 3)), [])


HERE = [Edit("m.py", 3, BEFORE, BEFORE.replace(b"three", b"3"))]


def test_other_work_speaks_for_a_line_that_was_not_edited_alone() -> None:
    other = run(OperatorCount("aten::mul", 9, 0))
    assert not detect_suppression(FAILS, WRONG, other, [edit(BEFORE.replace(b"four", b"4"))])
    assert "does not run any more" in detect_suppression(FAILS, WRONG, other, HERE)


def test_each_line_of_a_place_counts_and_no_other() -> None:
    whole = replace(FIRST, frames=(replace(FIRST.frames[0], place=at(2, 4)),))
    before, other = run(OperatorCount(ADD, 0, 1), failed=whole), run(OperatorCount("aten::mul", 9, 0))
    for line, said in ((b"one", ""), (b"two", "x"), (b"three", "x"), (b"four", "x"), (b"five", "")):
        assert bool(detect_suppression(before, WRONG, other, [edit(BEFORE.replace(line, b"new"))])) is bool(said), line


def test_an_operator_in_place_or_chosen_for_another_stands_for_it() -> None:
    for failed, ran in ((ADD, "aten::add_"), ("aten::add_", ADD), ("aten::bmm", "aten::linear"), (ADD, ADD)):
        before = run(OperatorCount(failed, 0, 1), failed=replace(FIRST, op=failed))
        assert not detect_suppression(before, WRONG, run(OperatorCount(ran, 1, 0)), HERE)
    for failed, ran in ((ADD, "aten::bmm"), ("aten::bmm", ADD), ("aten::_add", ADD), (ADD, "aten::_add")):
        before = run(OperatorCount(failed, 0, 1), failed=replace(FIRST, op=failed))
        assert detect_suppression(before, WRONG, run(OperatorCount(ran, 1, 0)), HERE)


def test_a_run_fails_there_only_where_it_ends_so() -> None:
    assert fails_at_same_site(make_run(HOME, FIRST), FIRST, [])
    for after in (
        replace(make_run(HOME, FIRST), outcome=make_run(HOME).outcome),
        replace(make_run(HOME, FIRST), failure=None),
        make_run(HOME, replace(FIRST, frames=())),
        make_run(HOME, failure(4, 1, 10)),
    ):
        assert not fails_at_same_site(after, FIRST, [])
    assert not fails_at_same_site(make_run(HOME, FIRST), replace(FIRST, frames=()), [])


def test_how_it_is_told_that_a_failure_is_caught() -> None:
    said = "it hides the failure: it is raised as before, and caught"
    assert detect_suppression(FAILS, WRONG, run(OperatorCount(ADD, 3, 1)), []) == said
    assert detect_suppression(FAILS, WRONG, run(OperatorCount(ADD, 3, 0), handled=failure(4, 1, 11)), []) == said


def test_an_operator_is_known_by_the_one_that_failed_inside_of_it() -> None:
    inner = "aten::index_select", "aten::embedding"
    before = run(OperatorCount(inner[0], 0, 1), OperatorCount(inner[1], 0, 1), failed=replace(FIRST, op=inner[0]))
    assert not detect_suppression(before, WRONG, run(OperatorCount(inner[1], 1, 0)), HERE)
    assert detect_suppression(before, WRONG, run(OperatorCount("aten::sum", 1, 0)), HERE)


def test_a_call_of_several_lines_is_one_place() -> None:
    def fails(line: int, end: int | None = None) -> Failure:
        return replace(FIRST, frames=(replace(FIRST.frames[0], place=at(line, end)),))

    before = run(OperatorCount(ADD, 0, 1), failed=fails(2, 4))
    for line in (2, 3, 4):
        assert not detect_suppression(before, WRONG, run(OperatorCount(ADD, 0, 1), failed=fails(line)), [])
    for line in (1, 5):
        assert detect_suppression(before, WRONG, run(OperatorCount(ADD, 0, 1), failed=fails(line)), [])
    elsewhere = replace(FIRST, frames=(replace(FIRST.frames[0], place=at(3, path="n.py")),))
    assert detect_suppression(before, WRONG, run(OperatorCount(ADD, 0, 1), failed=elsewhere), [])


def test_a_backend_may_choose_another_operator() -> None:
    names = "aten::bmm", "aten::_scaled_dot_product_flash_attention"
    before = run(OperatorCount(names[0], 0, 1), failed=replace(FIRST, op=names[0]))
    assert not detect_suppression(before, WRONG, run(OperatorCount(names[1], 1, 0)), [])
    assert detect_suppression(before, WRONG, run(OperatorCount("aten::sum", 1, 0)), HERE)


def test_without_evidence_nothing_is_said() -> None:
    assert not detect_suppression(run(failed=FIRST), WRONG, run(), [])
    assert not detect_suppression(run(OperatorCount(ADD, 0, 1)), WRONG, run(), [])
    assert not detect_suppression(run(OperatorCount(ADD, 0, 1), failed=replace(FIRST, frames=())), WRONG, run(), [])
    data = "torch.Tensor.data"  # outside of the dispatcher its success is not seen
    before = run(OperatorCount(data, 0, 1), failed=replace(FIRST, op=data))
    assert not detect_suppression(before, WRONG, run(), [])
    assert detect_suppression(before, WRONG, run(OperatorCount(data, 0, 1)), [])


def test_a_way_to_numpy_must_be_gone() -> None:
    numpy = "torch.Tensor.numpy"
    before = run(OperatorCount(numpy, 0, 1), failed=replace(FIRST, op=numpy))
    assert not detect_suppression(before, WRONG, run(OperatorCount(numpy, 1, 0)), HERE)
    assert "does not run any more" in detect_suppression(before, WRONG, run(), HERE)


def test_a_dtype_that_a_device_lacks_is_cast_and_what_reads_it_runs() -> None:
    cast = replace(FIRST, kind="dtype-on-device", op="aten::_to_copy")
    before = run(OperatorCount(cast.op, 0, 1), failed=cast)
    assert detect_suppression(before, WRONG, run(OperatorCount("aten::mul", 1, 0)), HERE) == ""
    assert "does not run any more" in detect_suppression(before, WRONG, run(OperatorCount("aten::copy_", 1, 0)), HERE)
    assert "does not run any more" in detect_suppression(before, WRONG, run(), HERE)


def test_another_world_still_fails_at_the_fixed_line_or_by_the_edit() -> None:
    before, edits = make_run(HOME, FIRST), [edit(b"zero\n" + BEFORE)]
    assert still_fails(before, make_run(CPU, failure(4, 1, 10)), edits)
    assert not still_fails(before, make_run(CPU, failure(5, 1, 10)), edits)
    by_itself = replace(make_run(CPU, failure(1, 1, 10)), outcome=Outcome.OTHER)
    assert still_fails(before, by_itself, edits) and not still_fails(before, by_itself, [])
    assert not still_fails(make_run(HOME), make_run(CPU, failure(4, 1, 10)), edits), "nothing failed there before"
