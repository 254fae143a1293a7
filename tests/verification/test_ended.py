"""Runs that were ended count as clean only where they got past the failing line, and are not compared."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from check_cases import make_check, verdict
from verifier_cases import CPU, FILES, FIRST, HOME, SOURCE, TWO, make_run, patch

from devfix.model import NO_COUNTS, CountRequest, Diagnosis, Finding, OperatorCount, Run, World
from devfix.verification.checks.ended import ENDED_NOTE
from devfix.verification.verifier import Verifier

FIXED = SOURCE.replace(b"make()", b"make().cuda()")
DIAGNOSIS = Diagnosis("p/r", "t", FIRST, Finding(1, "because"))
PAST, NOT_THERE = (OperatorCount("aten::add", 5, 0, device=5),), ()


def judged(
    counts: Mapping[World, tuple[OperatorCount, ...]], printed: Mapping[World, str]
) -> tuple[str, str, Verifier]:
    """Verify a fix of a program that is ended after a minute; before it the program fails on GPUs."""

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files == FILES and world != CPU:
            return make_run(world, FIRST)
        ended = replace(make_run(world, stdout=printed.get(world, "1\n")), ended="alive for 60 s", torch="2")
        assert files == FILES or (reach.locations[0].line, reach.steps) == (3, 4)  # the failing line
        return replace(ended, operator_counts=counts.get(world, PAST))

    def baseline(world: World) -> Run:
        return run(world, FILES, False, NO_COUNTS)

    verifier = Verifier(run, make_run(HOME, FIRST), FILES, [HOME, CPU, TWO], baseline, steps=4)
    with ThreadPoolExecutor(2) as pool:
        candidate = verifier.verify_on_all_worlds(verifier.run_on_failing_world(patch(FIXED), DIAGNOSIS), pool)
    return candidate.verdict.outcome, candidate.verdict.reason, verifier


def test_a_world_in_which_it_stayed_alive_is_clean_and_nothing_is_compared() -> None:
    outcome, reason, verifier = judged({}, {CPU: "other\n"})
    assert (outcome, reason) == ("verified", "") and ENDED_NOTE in verifier.flaky


@pytest.mark.parametrize("world", [CPU, TWO])
def test_a_world_that_does_not_get_past_the_failing_line_rejects_the_fix(world: World) -> None:
    outcome, reason, _ = judged({world: NOT_THERE}, {})
    assert outcome == "broken"
    assert reason == f"alive for 60 s in the world {world.name}, but not past m.py:3 (--for gives it longer)"


@pytest.mark.parametrize(("before", "after"), [("alive for 60 s", ""), ("", "alive for 60 s"), ("", "")])
def test_where_either_run_was_ended_nothing_is_compared(before: str, after: str) -> None:
    def plain(world: World) -> Run:
        return make_run(world, FIRST) if world == HOME else replace(make_run(world, stdout="1\n"), ended=before)

    def fixed(world: World) -> Run:
        run = replace(make_run(world, stdout="2\n"), operator_counts=PAST if world == CPU else ())
        return replace(run, ended=after) if world == CPU else run

    given = make_check(fixed, plain)
    given.verifier.worlds = [HOME, CPU]
    compared = not before and not after
    assert verdict(given)[0] == ("behaviour-changed" if compared else "verified")
    assert (ENDED_NOTE in given.verifier.flaky) is not compared
