"""Tests that the time of a search did not reach run when there is time left."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from searches import FINDS, searched_repository
from waiting import with_enough_time

from devfix.find.coverage import Coverage
from devfix.find.find import FindOptions, open_search
from devfix.find.passes import PassResult
from devfix.find.results import TestResults
from devfix.find.search import CPU
from devfix.find.suites import Suite, SuiteKind
from devfix.model import Outcome, Run, World
from devfix.workspace import Repository

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
    assert coverage.select_tests(LIFTED) == ["a"]
    coverage.add_lifted(LIFTED, ["a"], ended(Outcome.CLEAN, a="passed"))
    coverage.add_control(ended(Outcome.CLEAN, 2, c="passed", d="failed"))
    assert not coverage.lacks_control and coverage.select_tests(LIFTED) == ["c"]
    coverage.postpone(LIFTED)
    assert coverage.is_unfinished
    (left, over) = coverage.notes()
    assert (
        left.startswith("b ran until")
        and over == f"the budget was over before all tests ran {LIFTED}; --budget gives more"
    )
    coverage.add_lifted(LIFTED, ["c"], ended(Outcome.CLEAN, c="finding"))
    assert not coverage.is_unfinished and list(coverage.notes()) == [left]
    assert coverage.select_tests("twice") == ["a", "c"] and coverage.select_tests("twice", passing=True) == ["a"]


def test_what_has_no_result_lifted_is_not_asked_for_again() -> None:
    coverage = Coverage(Suite(SuiteKind.tests, ()))
    coverage.add_control(ended(Outcome.CLEAN, 2, a="passed", b="passed"))
    coverage.add_lifted(LIFTED, ["a", "b"], ended(Outcome.OTHER, a="passed"))
    (note,) = coverage.notes()
    assert note.startswith("1 of 2 tests has no result lifted to cuda:0")
    assert coverage.select_tests(LIFTED) == [] and not coverage.is_unfinished
    coverage.add_control(ended(Outcome.CLEAN, 1, c="passed"))
    coverage.add_lifted(LIFTED, ["c"], ended(Outcome.OTHER))
    (note,) = coverage.notes()
    assert note.startswith("2 of 3 tests have no result lifted to cuda:0")


@pytest.mark.slow
def test_a_test_that_waits_on_the_cpu_does_not_hide_what_comes_after(tmp_path: Path) -> None:
    root = searched_repository(tmp_path, a_waits=WAITS, b_finds=FINDS)
    asked = FindOptions(python=sys.executable, timeout=3600.0, silent=frozenset(), gpus=1)
    with open_search(Repository.open(root), asked, lambda title, told: None, lambda title: None) as (search, (suite,)):
        waiting = "tests/test_a_waits.py::test_waits"
        begun = with_enough_time(
            lambda seconds: search.runner.run(suite, CPU, seconds), lambda done: done.tests.running == waiting, 4
        )
        assert begun.is_cut and not begun.tests.results
        search.coverage[suite] = Coverage(suite)
        search.coverage[suite].add_control(begun)
        search.look(suite)
        (note,) = search.coverage[suite].notes()
    assert [cause.place.line for cause in search.causes] == [5]
    assert note.startswith(f"{waiting} ran until the time of a run was over, and was left out; ")


def test_a_lifted_run_that_reached_no_test_is_known() -> None:
    coverage = Coverage(Suite(SuiteKind.tests, ()))
    coverage.add_control(ended(Outcome.TIMEOUT, 2, a="passed"))
    assert not coverage.is_unlifted
    coverage.add_lifted(LIFTED, ["a"], ended(Outcome.TIMEOUT))
    assert coverage.is_unlifted
    coverage.add_lifted(LIFTED, ["a"], ended(Outcome.CLEAN, a="passed"))
    assert not coverage.is_unlifted
