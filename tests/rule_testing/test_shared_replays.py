"""Many cases whose runs are recorded are replayed in several processes, with the same results."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rule_packs import RULE, left_alone, page, repaired, write_rule
from waiting import HANGS

from devfix.registry.loading import rule_at
from devfix.rule_testing.checking.page_check import Judgement, judge
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.recording import shared_replays
from devfix.rule_testing.recording.runs import RecordedRuns
from devfix.rule_testing.recording.store import Store

Tested = Callable[..., tuple[Judgement, int, int]]
ASKED = "    def diagnose(self, ctx: Context) -> Finding | None:\n"
TELLING = RULE.replace(ASKED, f"{ASKED}        import os\n        print(os.getpid())\n")
KILLED = RULE.replace(ASKED, f"{ASKED}        import os\n        os.getpid() == PARENT or os.kill(os.getpid(), 9)\n")
CASES = page(repaired(), *(left_alone().replace("on purpose", f"on purpose {number}") for number in range(5)))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")


@pytest.fixture
def tested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tested:
    """Tests a rule with the recorded runs of this test; returns the judgement, and the runs made and replayed."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(shared_replays, "CHUNK", 2)

    def run(rule: str, fewest: int = 2, cases: str = CASES) -> tuple[Judgement, int, int]:
        monkeypatch.setattr(shared_replays, "FEWEST", fewest)
        recorded = RecordedRuns(Store(tmp_path / "runs"), Path(sys.executable))
        with Bench(Path(sys.executable), HANGS, recorded=recorded) as bench:
            (judgement,) = judge([rule_at(write_rule(tmp_path / "rules", rule=rule, text=cases))], bench)
        return judgement, recorded.count["made"], recorded.count["replayed"]

    return run


def processes(judgement: Judgement) -> set[int]:
    """Return the processes in which the rule was asked."""
    return {int(word) for result in judgement.results for word in result.output.split()}


@pytest.mark.slow
def test_results_are_those_of_one_process(tested: Tested) -> None:
    alone, made, _ = tested(TELLING, fewest=100)
    assert alone.passed and made and processes(alone) == {os.getpid()}
    shared, again, replayed = tested(TELLING)
    assert not again and replayed and os.getpid() not in processes(shared)
    assert [result.name for result in shared.results] == [result.name for result in alone.results]
    for one, other in zip(shared.results, alone.results, strict=True):
        assert replace(one, output="") == replace(other, output="")


@pytest.mark.slow
def test_what_is_not_recorded_is_run(tested: Tested) -> None:
    first, made, _ = tested(TELLING)
    assert first.passed and made and processes(first) == {os.getpid()}
    more = CASES + "\n" + left_alone().replace("on purpose", "one more").replace("import torch", "import torch  # new")
    later, made, replayed = tested(TELLING, cases=more)
    assert later.passed and made and replayed
    assert os.getpid() in processes(later) and len(processes(later)) > 1


@pytest.mark.slow
def test_a_process_that_is_killed_loses_no_case(tested: Tested) -> None:
    killed = KILLED.replace("PARENT", str(os.getpid()))
    assert tested(killed, fewest=100)[0].passed
    judgement, made, replayed = tested(killed)
    assert judgement.passed and len(judgement.results) == 6 and not made and replayed
