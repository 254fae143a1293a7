"""How many runs of a program take place at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from verifier_cases import HOME, make_run

from devfix.model import World
from devfix.pipeline.opening import parallel_runs as module
from devfix.pipeline.opening.parallel_runs import MOST, parallel_runs

GIGABYTE = 1_000_000_000
WAITS = replace(make_run(HOME), seconds=50.0, processor=5.0, memory=GIGABYTE)


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cores", lambda: 2)
    monkeypatch.setattr(module, "available_memory", lambda: 100 * GIGABYTE)


def test_a_program_that_waits_leaves_its_core_to_others() -> None:
    assert parallel_runs(WAITS, 2) == MOST
    assert parallel_runs(replace(WAITS, processor=20.0), 2) == 5
    assert parallel_runs(replace(WAITS, processor=49.0), 2) == 2
    assert parallel_runs(replace(WAITS, processor=99.0), 2) == 2  # with threads of its own


def test_one_that_was_kept_from_a_core_only_seems_to_wait() -> None:
    assert parallel_runs(replace(WAITS, core_wait=5.0), 2) == MOST
    assert parallel_runs(replace(WAITS, core_wait=15.0), 2) == 5
    assert parallel_runs(replace(WAITS, core_wait=40.0), 2) == 2


def test_memory_limits_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parallel_runs(WAITS, 2, limit=4 * GIGABYTE) == 4
    monkeypatch.setattr(module, "available_memory", lambda: 6 * GIGABYTE)
    assert parallel_runs(WAITS, 2) == 3
    assert parallel_runs(WAITS, 2, limit=GIGABYTE) == 2
    monkeypatch.setattr(module, "available_memory", lambda: 0)
    assert parallel_runs(WAITS, 2) == 2


@pytest.mark.parametrize(
    "run",
    [
        replace(WAITS, world=World("real", 1)),
        replace(WAITS, seconds=1.0, processor=0.1),
        replace(WAITS, processor=0.0),
        replace(WAITS, memory=0),
    ],
)
def test_what_is_not_known_is_not_assumed(run: object) -> None:
    assert parallel_runs(run, 2) == 2


def test_this_machine_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert module.cores() >= 1
    assert module.available_memory() > 10_000_000
