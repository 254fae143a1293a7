"""Programs that draw random numbers without a seed are compared in runs with one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from check_cases import DIAGNOSIS, FIX
from verifier_cases import CPU, FILES, FIRST, HOME, SOURCE, make_run, patch

from devfix.model import (
    NO_COUNTS,
    Checksum,
    CountRequest,
    OperatorCount,
    OperatorTotals,
    Outcome,
    Run,
    SourceLocation,
    World,
)
from devfix.verification.verifier import Verifier


def unseeded(run: Run, total: float) -> Run:
    """A run whose results are one number, as it was drawn."""
    return replace(run, unseeded=("torch",), operator_totals=(OperatorTotals("aten::mul", 1, 0, total, total),))


@pytest.mark.parametrize("seeded_total", [7.0, 8.0])
def test_runs_of_a_program_without_a_seed_are_compared_with_one(seeded_total: float) -> None:
    """All runs before agree by chance, and the run of the patch does not: only what seeded runs say counts."""

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files["m.py"] == SOURCE:
            return unseeded(make_run(world, FIRST if world == HOME else None), 1.0)
        return unseeded(make_run(world), 2.0)

    def seeded(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        assert (world, fresh, reach) == (CPU, False, NO_COUNTS)
        return unseeded(make_run(world), 7.0 if files["m.py"] == SOURCE else seeded_total)

    verifier = Verifier(
        run, run(HOME, FILES, False, NO_COUNTS), FILES, [HOME, CPU], lambda world: run(world, FILES, False, NO_COUNTS),
        seeded=seeded,
    )  # fmt: skip
    kept, rejected = verifier.select_best([patch(FIX)], [DIAGNOSIS])
    assert (kept is not None) == (seeded_total == 7.0)
    assert kept is not None or "aten::mul has other results" in rejected[0].verdict.reason
    assert any("torch.manual_seed(0)" in note for note in verifier.flaky)


@pytest.mark.parametrize("ended", [Outcome.CLEAN, Outcome.OTHER])
def test_with_a_seed_the_program_must_end_as_before_if_it_ended_so(ended: Outcome) -> None:
    """Without the patch the program may end otherwise with the numbers of the seed, which says nothing of the patch."""

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files["m.py"] == SOURCE:
            return unseeded(make_run(world, FIRST if world == HOME else None), 1.0)
        return unseeded(make_run(world), 2.0)

    def seeded(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        plain = files["m.py"] == SOURCE
        return replace(make_run(world), outcome=ended if plain else Outcome.OTHER, stderr="ValueError: no")

    verifier = Verifier(
        run, run(HOME, FILES, False, NO_COUNTS), FILES, [HOME, CPU], lambda world: run(world, FILES, False, NO_COUNTS),
        seeded=seeded,
    )  # fmt: skip
    kept, rejected = verifier.select_best([patch(FIX)], [DIAGNOSIS])
    assert (kept is None) is (ended is Outcome.CLEAN)
    said = "cpu ran before, with a seed, now it failed otherwise: ValueError: no"
    assert [(each.verdict.outcome, each.verdict.reason) for each in rejected] == [("regressed", said)] * (kept is None)


@pytest.mark.parametrize(("before", "after"), [(True, False), (False, True)])
def test_it_is_enough_that_either_run_draws_without_a_seed(before: bool, after: bool) -> None:
    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files["m.py"] == SOURCE:
            made, is_drawn = unseeded(make_run(world, FIRST if world == HOME else None), 1.0), before
        else:
            made, is_drawn = unseeded(make_run(world), 2.0), after
        return made if is_drawn else replace(made, unseeded=())

    def seeded(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        return unseeded(make_run(world), 7.0)

    verifier = Verifier(
        run, run(HOME, FILES, False, NO_COUNTS), FILES, [HOME, CPU], lambda world: run(world, FILES, False, NO_COUNTS),
        seeded=seeded,
    )  # fmt: skip
    assert verifier.select_best([patch(FIX)], [DIAGNOSIS])[0] is not None
    assert any("torch.manual_seed(0)" in note for note in verifier.flaky)


def test_of_a_program_that_fails_without_a_gpu_too_results_are_compared_with_a_seed() -> None:
    def ending(world: World, total: float) -> Run:
        return replace(unseeded(make_run(world), total), outcome=Outcome.OTHER, exit_code=1, stderr="ValueError: no")

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files["m.py"] == SOURCE:
            return unseeded(make_run(world, FIRST), 1.0) if world == HOME else ending(world, 1.0)
        return ending(world, 2.0)

    def seeded(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        return ending(world, 7.0 if files["m.py"] == SOURCE else 8.0)

    verifier = Verifier(
        run, run(HOME, FILES, False, NO_COUNTS), FILES, [HOME, CPU], lambda world: run(world, FILES, False, NO_COUNTS),
        seeded=seeded,
    )  # fmt: skip
    kept, rejected = verifier.select_best([patch(FIX)], [DIAGNOSIS])
    assert kept is None and "aten::mul has other results" in rejected[0].verdict.reason


@pytest.mark.parametrize("drawn_by", [("before", "after"), ("before",), ("after",)])
@pytest.mark.parametrize(("handed", "outcome"), [(True, "verified"), (False, "behaviour-changed")])
def test_operands_are_compared_with_a_seed_too(handed: bool, outcome: str, drawn_by: tuple[str, ...]) -> None:
    """The operator that failed in another one is given other numbers each time; with a seed, those of the failure."""
    drawn, fixed = Checksum(3.0, 3.0), Checksum(5.0, 9.0)
    asked: list[tuple[World, bytes, bool, CountRequest]] = []

    def failing(values: Checksum) -> Run:
        operands = tuple(replace(each, values=values) for each in FIRST.operands)
        run = make_run(HOME, replace(FIRST, operands=operands))
        return replace(run, unseeded=("torch",) if "before" in drawn_by else ())

    def counted(saw: bool) -> Run:
        part = OperatorCount("aten::add", 1, 0, device=1)
        whole = OperatorCount("aten::whole", 1, 0, device=1, saw_expected_values=saw)
        run = replace(make_run(HOME), operator_counts=(part, whole))
        return replace(run, unseeded=("torch",) if "after" in drawn_by else ())

    def seeded(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        asked.append((world, files["m.py"], fresh, reach))
        return failing(fixed) if files["m.py"] == SOURCE else counted(handed)

    before = replace(failing(drawn), operator_counts=(OperatorCount("aten::whole", 0, 1),))
    verifier = Verifier(lambda *each: counted(False), before, FILES, [HOME], lambda world: before, seeded=seeded)
    candidate = verifier.run_on_failing_world(patch(FIX), DIAGNOSIS)
    assert candidate.verdict.outcome == outcome
    reach = CountRequest((SourceLocation("m.py", 3, "f", end_line=3, owned=True),), (fixed, fixed))
    runs = [(HOME, SOURCE, False, NO_COUNTS), (HOME, FIX, False, reach)]
    assert asked == runs + ([] if handed else [(HOME, SOURCE, False, NO_COUNTS)])
