"""Changes that move more than the tensor that failed: rejected where another of those tensors is missed on the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from check_cases import DIAGNOSIS, plainly
from verifier_cases import CPU, FILES, FIRST, HOME, SOURCE, failure, make_run, patch

from devfix.model import CountRequest, Event, Failure, Operand, Patch, Run, SourceLocation, World
from devfix.verification.edit_map import involves_moved_tensor
from devfix.verification.verifier import Verifier

BATCH = b"batch\n" + SOURCE


def moved_at(line: int, device: str = "cuda:0") -> Failure:
    """A later failure with an operand that a line of the edited file moved to a GPU."""
    later = failure(5, 3, 11)
    place = SourceLocation("m.py", line, "f", owned=True)
    moved = Event("move", "aten::_to_copy", device, (place,))
    return replace(later, operands=(Operand("input", device, history=(moved,)), *later.operands[1:]))


def verifier(after: Mapping[bytes, Failure | None], copies: Mapping[bytes, int]) -> Verifier:
    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files["m.py"] == SOURCE:
            return plainly(world)
        failed = after[files["m.py"]] if world == HOME else None
        return make_run(world, failed, copies=copies.get(files["m.py"], 0))

    return Verifier(run, make_run(HOME, FIRST), FILES, [HOME, CPU], plainly)


def joint(content: bytes) -> Patch:
    return replace(patch(content), joint=True)


@pytest.mark.parametrize(("line", "lost"), [(1, True), (4, False)])
def test_a_tensor_that_an_edited_line_moved_is_told_in_the_next_failure(line: int, lost: bool) -> None:
    assert involves_moved_tensor(moved_at(line), patch(BATCH).edits) is lost


def test_each_tensor_of_the_next_failure_counts_and_only_moves_at_known_places() -> None:
    later = moved_at(1)
    elsewhere = moved_at(4).operands[0]
    unknown = replace(elsewhere, history=tuple(replace(each, places=()) for each in elsewhere.history))
    assert not involves_moved_tensor(replace(later, operands=(unknown,)), patch(BATCH).edits)
    several = replace(later, operands=(unknown, elsewhere, *later.operands))
    assert involves_moved_tensor(several, iter(patch(BATCH).edits))


def test_one_whose_other_tensors_fail_next_is_dropped() -> None:
    kept, rejected = verifier({BATCH: moved_at(1)}, {}).select_best([joint(BATCH)], [DIAGNOSIS])
    assert kept is None
    assert [each.verdict.outcome for each in rejected] == ["broken"]
    assert "it moves more than what failed, and one of the others fails" in rejected[0].verdict.reason


def test_the_same_change_of_one_tensor_alone_gets_further() -> None:
    kept, _ = verifier({BATCH: moved_at(1)}, {}).select_best([patch(BATCH)], [DIAGNOSIS])
    assert kept is not None and kept.verdict.outcome == "progressed"


def test_one_that_moves_a_single_tensor_and_holds_stands_before_it() -> None:
    single = b"single\n" + SOURCE
    ready = verifier({BATCH: None, single: None}, {BATCH: 5, single: 3})
    kept, _ = ready.select_best([joint(BATCH), patch(single)], [DIAGNOSIS])
    assert kept is not None and kept.patch.edits[0].after == single


def test_without_another_that_holds_it_is_kept() -> None:
    single = b"single\n" + SOURCE
    ready = verifier({BATCH: None, single: failure(5, 3, 11)}, {BATCH: 5, single: 3})
    kept, _ = ready.select_best([joint(BATCH), patch(single)], [DIAGNOSIS])
    assert kept is not None and kept.patch.joint


def test_one_that_gets_further_and_prints_something_else_is_told_as_that() -> None:
    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files["m.py"] == SOURCE:
            return plainly(world)
        return make_run(world, failure(5, 3, 11) if world == HOME else None, stdout="2\n")

    kept, rejected = Verifier(run, make_run(HOME, FIRST), FILES, [HOME, CPU], plainly).select_best(
        [patch(BATCH)], [DIAGNOSIS]
    )
    assert kept is None
    assert [(each.verdict.outcome, each.verdict.reason) for each in rejected] == [
        ("behaviour-changed", "the program prints something else in the world cpu")
    ]
