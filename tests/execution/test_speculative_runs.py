"""Runs that begin ahead: how many at once, which first, and that each is used once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from verifier_cases import HOME, make_run
from waiting import HANGS

from devfix.execution.slots import CancelledError, Slots, Speculation
from devfix.execution.speculative_runs import SpeculativeRuns
from devfix.model import Run


class Program:
    """A program that runs until it is told to end, or is cancelled."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.began: list[str] = []
        self.cancelled: list[str] = []
        self.changed = threading.Condition()
        self._ends: set[str] = set()

    def start(self, name: str, ahead: Speculation | None) -> Run:
        with self.slots.slot(ahead):
            with self.changed:
                self.began.append(name)
                self.changed.notify_all()
                while name not in self._ends:
                    if ahead is not None and ahead.cancelled.is_set():
                        self.cancelled.append(name)
                        break
                    self.changed.wait(0.01)
            return make_run(HOME, stdout=f"{name} {len(self.began)}\n")

    def end(self, *names: str) -> None:
        with self.changed:
            self._ends.update(names)
            self.changed.notify_all()

    def wait_for(self, condition: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, HANGS)


@contextmanager
def running(count: int) -> Iterator[tuple[Program, SpeculativeRuns[str]]]:
    program = Program(Slots(count))
    runs = SpeculativeRuns(program.start, program.slots)
    try:
        yield program, runs
    finally:
        runs.close()


def test_a_run_that_began_ahead_is_used_once() -> None:
    with running(2) as (program, runs):
        runs.expect(["a"])
        program.end("a")
        program.wait_for(lambda: program.began == ["a"])
        assert runs.run("a").stdout == "a 1\n"
        assert runs.run("a").stdout == "a 2\n"  # another run: that it repeats is seen


def test_runs_ahead_begin_in_their_order_and_as_many_as_there_are_slots() -> None:
    with running(2) as (program, runs):
        runs.expect(["a", "b", "c", "d"])
        program.wait_for(lambda: len(program.began) == 2)
        assert sorted(program.began) == ["a", "b"]
        program.end("b")
        program.wait_for(lambda: len(program.began) == 3)
        assert program.began[2] == "c"


def test_what_is_no_longer_expected_is_cancelled_and_leaves_its_place() -> None:
    with running(1) as (program, runs):
        runs.expect(["a", "b"])
        program.wait_for(lambda: program.began == ["a"])
        runs.expect(["c", "b"])
        program.end("b", "c")
        program.wait_for(lambda: program.cancelled == ["a"])
        assert {runs.run("b").stdout[0], runs.run("c").stdout[0]} == {"b", "c"}
        assert program.began.count("a") == 1


def test_a_run_that_is_waited_for_comes_before_those_ahead() -> None:
    with running(1) as (program, runs):
        runs.expect(["a", "b"])
        program.wait_for(lambda: program.began == ["a"])
        asked = threading.Thread(target=runs.run, args=("now",))
        asked.start()
        program.wait_for(lambda: program.slots._asked == 1)
        program.end("a", "b", "now")
        asked.join(HANGS)
        program.wait_for(lambda: len(program.began) == 3)
        assert program.began == ["a", "now", "b"]


def test_a_run_ahead_that_has_not_begun_is_run_at_once_when_it_is_asked_for() -> None:
    with running(1) as (program, runs):
        runs.expect(["a", "b", "c"])
        program.wait_for(lambda: program.began == ["a"])
        program.end("a", "b", "c")
        assert runs.run("c").stdout.startswith("c ")
        assert program.began.count("c") == 1


def test_an_error_is_raised_where_the_run_is_asked_for() -> None:
    slots = Slots(1)

    def start(name: str, ahead: Speculation | None) -> Run:
        with slots.slot(ahead):
            raise OSError(name)

    runs = SpeculativeRuns(start, slots)
    runs.expect(["a"])
    with pytest.raises(OSError, match="a"):
        runs.run("a")
    runs.close()


def test_closing_cancels_what_nobody_has_asked_for() -> None:
    with running(1) as (program, runs):
        runs.expect(["a", "b"])
        program.wait_for(lambda: program.began == ["a"])
        runs.close()
        assert program.began == program.cancelled == ["a"]
        with pytest.raises(CancelledError):
            runs.begin("c")


def test_more_slots_let_more_begin() -> None:
    with running(1) as (program, runs):
        runs.expect(["a", "b", "c"])
        program.wait_for(lambda: program.began == ["a"])
        program.slots.widen(3)
        program.wait_for(lambda: sorted(program.began) == ["a", "b", "c"])
        program.slots.widen(2)
        assert program.slots.count == 3


def test_runs_that_get_in_each_others_way_take_turns_from_then_on() -> None:
    with running(2) as (program, runs):
        program.slots.narrow()
        program.slots.widen(4)
        runs.expect(["a", "b"])
        program.wait_for(lambda: program.began == ["a"])
        program.end("a", "b")
        program.wait_for(lambda: program.began == ["a", "b"])
        assert (runs.run("a").stdout, runs.run("b").stdout) == ("a 1\n", "b 2\n")
        assert program.slots.count == 1
