"""What a verdict says besides its outcome: the words, and which worlds it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from verifier_cases import CPU, FILES, FIRST, HOME, SOURCE, TWO, failure, make_run, patch

from devfix.model import CountRequest, Diagnosis, Failure, Finding, Outcome, Run, Verdict, World
from devfix.verification.verifier import Verifier

DIAGNOSIS = Diagnosis("p/r", "", FIRST, Finding(1, ""))


def verdict(home: Failure | None, two: Failure | None = None, cpu: str = "1\n", plain: str = "1\n") -> Verdict:
    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files["m.py"] == SOURCE:
            return make_run(world, FIRST if world == HOME else None, stdout=plain)
        return make_run(world, {HOME: home, TWO: two}.get(world), stdout=cpu if world == CPU else "1\n")

    verifier = Verifier(run, make_run(HOME, FIRST), FILES, [HOME, CPU, TWO], lambda world: run(world, FILES, False, ()))
    kept, rejected = verifier.select_best([patch(b"a = make()\nb = 2\nuse(a)\nuse(b)\n")], [DIAGNOSIS])
    return kept.verdict if kept else rejected[0].verdict


def test_of_one_that_holds() -> None:
    found = verdict(None)
    assert (found.outcome, found.reason) == ("verified", "")
    assert found.worlds == {HOME.name: "clean", CPU.name: "clean", TWO.name: "clean"}
    assert found.before == {HOME.name: "failed", CPU.name: "clean"}, "the others are run only where a patch fails"


def test_of_one_that_is_worse() -> None:
    found = verdict(None, two=FIRST)
    assert found.outcome == "regressed" and found.reason.startswith(
        f"{TWO.name} ran before, now it failed: RuntimeError"
    )
    assert found.worlds[TWO.name] == "failed" and found.before == {HOME.name: "failed"}


@pytest.mark.parametrize(("cpu", "plain"), [("0\n", "1\n"), ("2\n", "1\n")])
def test_of_one_that_prints_something_else(cpu: str, plain: str) -> None:
    assert verdict(None, cpu=cpu, plain=plain).outcome == "behaviour-changed"


@pytest.mark.parametrize(
    ("after", "outcome", "said"),
    [
        (FIRST, "same-failure", "the same failure comes again"),
        (replace(FIRST, operations=11), "same-failure", "it only moves the crash to m.py:3: same cause"),
        (replace(FIRST, operations=9), "same-failure", "it only moves the crash to m.py:3: same cause"),
        (failure(4, 1, 10), "same-failure", "it only moves the crash to m.py:4: same cause"),
        (failure(4, 2, 10), "progressed", "the next failure has a cause of its own, at m.py:4"),
        (failure(4, 2, 9), "broken", "it fails earlier, at m.py:4"),
        (
            replace(failure(4, 2, 10), frames=()),
            "progressed",
            "the next failure has a cause of its own, at an unknown place",
        ),
    ],
)
def test_of_one_that_fails_again(after: Failure, outcome: str, said: str) -> None:
    found = verdict(after)
    assert (found.outcome, found.reason, found.next_failure) == (outcome, said, after)


def test_of_a_failure_without_a_place_or_a_trace() -> None:
    nowhere = replace(FIRST, frames=())

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        assert reach == CountRequest()
        return replace(make_run(world), outcome=Outcome.FAILED, stderr="lost\n")

    candidate = Verifier(run, make_run(HOME, nowhere), FILES, [HOME], run).run_on_failing_world(
        patch(b"one"), DIAGNOSIS
    )  # type: ignore[arg-type]
    assert (candidate.verdict.outcome, candidate.verdict.reason) == ("broken", "the program failed: lost")
