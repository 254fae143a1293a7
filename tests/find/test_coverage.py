"""Tests that the time of a search did not reach run when there is time left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from searches import FINDS, find, searched_repository
from waiting import with_enough_time

from devfix.find.coverage import Coverage
from devfix.find.passes import PassResult
from devfix.find.results import TestResults
from devfix.find.suites import Suite, SuiteKind
from devfix.model import Outcome, Run, World

WAITS = """
import time, torch

def test_waits():
    while True:
        time.sleep(0.01)
"""
LIFTED = "lifted to cuda:0"


def ended(outcome: Outcome, collected: int = 0, running: str = "", **results: str) -> PassResult:
    tests = TestResults(collected, results=results, running=running)
    return PassResult(tests, run=Run(World("cpu"), ("pytest",), outcome, 0, 1.0))


def test_a_search_goes_on_with_what_has_not_run() -> None:
    coverage = Coverage(Suite(SuiteKind.tests, ()))
    assert coverage.lacks_control
    coverage.add_control(ended(Outcome.TIMEOUT, 4, "b", a="passed"))
    assert coverage.left_out == {"a", "b"} and coverage.lacks_control, "b took the rest of the time"
    assert coverage.asked(LIFTED) == ["a"]
    assert not list(coverage.add_lifted(LIFTED, ["a"], ended(Outcome.CLEAN, a="passed")))
    coverage.add_control(ended(Outcome.CLEAN, 2, c="passed", d="failed"))
    assert not coverage.lacks_control and coverage.asked(LIFTED) == ["c"]
    coverage.postpone(LIFTED)
    assert coverage.is_unfinished
    (left, over) = coverage.notes()
    assert (
        left.startswith("b ran until")
        and over == f"the budget was over before all tests ran {LIFTED}; --budget gives more"
    )
    list(coverage.add_lifted(LIFTED, ["c"], ended(Outcome.CLEAN, c="finding")))
    assert not coverage.is_unfinished and list(coverage.notes()) == [left]
    assert coverage.asked("twice") == ["a", "c"] and coverage.asked("twice", passing=True) == ["a"]


def test_what_has_no_result_lifted_is_not_asked_for_again() -> None:
    coverage = Coverage(Suite(SuiteKind.tests, ()))
    coverage.add_control(ended(Outcome.CLEAN, 2, a="passed", b="passed"))
    (note,) = coverage.add_lifted(LIFTED, ["a", "b"], ended(Outcome.OTHER, a="passed"))
    assert note.startswith("1 of 2 tests have no result lifted to cuda:0")
    assert coverage.asked(LIFTED) == [] and not coverage.is_unfinished


@pytest.mark.slow
def test_a_test_that_waits_on_the_cpu_does_not_hide_what_comes_after(tmp_path: Path) -> None:
    root = searched_repository(tmp_path, a_waits=WAITS, b_finds=FINDS)

    def search(budget: float) -> dict[str, Any]:
        return find(root, "--timeout", "1h", "--budget", f"{budget}s", "--no-silent")

    told = with_enough_time(search, lambda told: bool(told["findings"]), 60)
    assert [found["line"] for found in told["findings"]] == [5]
    assert (
        "tests/test_a_waits.py::test_waits ran until the time of a run was over, and was left out; " in told["notes"][0]
    )
