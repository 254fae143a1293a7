"""How objections that a review finds weigh in the choice of a patch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from check_cases import DIAGNOSIS, FIX, plainly
from verifier_cases import CPU, FILES, FIRST, HOME, SOURCE, failure, make_run, patch

from devfix.model import CountRequest, OperatorCount, Patch, Run, World
from devfix.verification.candidate import CandidateResult
from devfix.verification.evidence import Objection
from devfix.verification.verifier import Verifier

STRONG, WEAK = Objection("strong", "it breaks"), Objection("weak", "it may break")
A, B = Objection("strong", "it breaks a", "a"), Objection("strong", "it breaks b", "b")


def chosen(
    objections: Mapping[bytes, list[Objection]], moves_on: bool = False
) -> tuple[CandidateResult | None, list[CandidateResult]]:
    """Choose between two patches, of which some have objections against them."""

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files["m.py"] == SOURCE:
            return plainly(world)
        return make_run(world, failure(5, 3, 11) if world == HOME and moves_on else None)

    def review(candidate: Patch, files: Mapping[str, bytes]) -> Sequence[Objection]:
        assert files["m.py"] == candidate.edits[0].after
        return objections.get(candidate.edits[0].after[:1], [])

    verifier = Verifier(run, make_run(HOME, FIRST), FILES, [HOME, CPU], plainly, review=review)
    return verifier.select_best([patch(b"1" + FIX), patch(b"2" + FIX)], [DIAGNOSIS])


def reviewed(objections: Mapping[bytes, list[Objection]], moves_on: bool = False) -> tuple[bytes | None, list[str]]:
    kept, rest = chosen(objections, moves_on)
    return kept and kept.patch.edits[0].after[:1], [each.verdict.outcome for each in rest]


def test_a_candidate_against_which_nothing_speaks_is_preferred() -> None:
    assert reviewed({}) == (b"1", [])
    assert reviewed({b"1": [STRONG]}) == (b"2", ["regressed"])
    assert reviewed({b"1": [WEAK]})[0] == b"2"
    assert reviewed({b"1": [WEAK], b"2": [WEAK]})[0] == b"1"
    assert reviewed({b"1": [WEAK], b"2": [STRONG]}) == (b"1", ["regressed"])
    assert reviewed({b"1": [STRONG], b"2": [STRONG]}) == (None, ["regressed", "regressed"])


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ([], [], b"1"),
        ([WEAK], [], b"2"),
        ([WEAK], [WEAK], b"1"),
        ([STRONG], [WEAK], b"2"),
        ([WEAK], [STRONG], b"1"),
        ([STRONG], [STRONG], None),
    ],
)
def test_so_is_one_that_reaches_another_failure(
    first: list[Objection], second: list[Objection], kept: bytes | None
) -> None:
    assert reviewed({b"1": first, b"2": second}, moves_on=True)[0] == kept


def test_what_speaks_against_a_candidate_is_told() -> None:
    kept, (dropped,) = chosen({b"1": [WEAK, STRONG, A], b"2": [WEAK]})
    assert kept is not None and kept.verdict.objections == ("it may break",) and kept.is_reviewed
    assert dropped.verdict.objections == ("it breaks", "it breaks a", "it may break") and dropped.is_reviewed
    assert (dropped.verdict.outcome, dropped.verdict.reason) == ("regressed", "it breaks")


@pytest.mark.parametrize(
    ("objections", "numbers"),
    [
        ([A], ("a",)),
        ([A, B, A], ("a", "b")),
        ([A, STRONG], ()),
        ([A, WEAK], ("a",)),
        ([replace(A, strength="weak")], ()),
    ],
)
def test_numbers_are_told_where_nothing_else_rejects_a_patch(
    objections: list[Objection], numbers: tuple[str, ...]
) -> None:
    kept, rest = chosen({b"1": objections})
    first = next(each for each in [kept, *rest] if each is not None and each.patch.edits[0].after[:1] == b"1")
    assert first.numbers == numbers


def test_without_a_review_nothing_speaks_against_a_candidate() -> None:
    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        return plainly(world) if files["m.py"] == SOURCE else make_run(world)

    kept, _ = Verifier(run, make_run(HOME, FIRST), FILES, [HOME, CPU], plainly).select_best([patch(FIX)], [DIAGNOSIS])
    assert kept is not None and kept.is_reviewed and (kept.verdict.objections, kept.numbers) == ((), ())


@pytest.mark.parametrize("moves_on", [False, True])
def test_a_patch_by_which_the_failing_line_leaves_the_gpu_comes_last(moves_on: bool) -> None:
    """The first patch moves the input of a model that was brought back, the second one moves the model again."""

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files["m.py"] == SOURCE:
            return plainly(world)
        on_gpu = 2 if files["m.py"].startswith(b"1") else 4
        after = make_run(world, failure(5, 3, 11) if world == HOME and moves_on else None)
        return replace(after, operator_counts=(OperatorCount("aten::add", 4, 0, device=on_gpu),))

    before = replace(make_run(HOME, FIRST), operator_counts=(OperatorCount("aten::add", 2, 1, device=2),))
    verifier = Verifier(run, before, FILES, [HOME, CPU], plainly)
    kept, _ = verifier.select_best([patch(b"1" + FIX), patch(b"2" + FIX)], [DIAGNOSIS])
    assert kept is not None and kept.patch.edits[0].after.startswith(b"2") and not kept.verdict.objections
    kept, _ = verifier.select_best([patch(b"1" + FIX)], [DIAGNOSIS])
    assert kept is not None and "ran on a GPU where it failed" in kept.verdict.objections[0]
