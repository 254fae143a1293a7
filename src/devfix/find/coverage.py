"""The tests of a suite that have run, and those that a further run would reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from devfix.find.control import needing_gpus, notes_of, reason_of_end
from devfix.find.passes import PassResult, merge
from devfix.find.results import TestResults
from devfix.find.suites import Suite

OVER = "the budget was over before"


@dataclass
class Lifted:
    """The tests that one kind of lifted run has run, and whether its time was over before all had.

    `without_result` are those that pytest left without a result when it ended, by the reason that it gave.
    """

    ran: set[str] = field(default_factory=set)
    is_cut: bool = False
    without_result: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Coverage:
    """The tests of one suite that have run: on the CPU, and lifted, by the title of the lifted run."""

    suite: Suite
    control: PassResult = field(default_factory=lambda: PassResult(TestResults()))
    left_out: set[str] = field(default_factory=set)  # ran on the CPU, or used up the time of a run
    lifted: dict[str, Lifted] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)  # in a lifted run
    has_run: bool = False

    @property
    def lacks_control(self) -> bool:
        """True if tests have not run on the CPU."""
        return not self.has_run or (self.control.is_cut and len(self.left_out) < self.control.tests.collected)

    @property
    def is_unfinished(self) -> bool:
        """True if more time would reach more tests."""
        return self.lacks_control or any(each.is_cut for each in self.lifted.values())

    @property
    def is_unlifted(self) -> bool:
        """True if a lifted run ended before its first test: pytest needs more time to collect them than it had."""
        tried = any(each.is_cut for each in self.lifted.values())
        return tried and not any(each.ran for each in self.lifted.values())

    def add_control(self, part: PassResult) -> None:
        """Add the results of a run on the CPU; a test that was running when its time was over is not tried again."""
        self.left_out.update(part.tests.results)
        if part.is_cut and part.tests.running:
            self.left_out.add(part.tests.running)
        merge(self.control, part)
        self.has_run = True

    def select_tests(self, title: str, *, passing: bool = False) -> list[str]:
        """Return the tests for a lifted run; `passing`: those that fail lifted by themselves say nothing there."""
        ran = self.lifted[title].ran if title in self.lifted else set()
        tests = self.control.tests
        wanted = tests.of("passed") + needing_gpus(tests)
        return [test for test in wanted if test not in ran and not (passing and test in self.failed)]

    def add_lifted(self, title: str, asked: Sequence[str], done: PassResult) -> None:
        """Add the results of a lifted run."""
        lifted = self.lifted.setdefault(title, Lifted())
        lifted.is_cut = done.lacks(asked)
        if not lifted.is_cut:
            left = [test for test in asked if test not in done.tests.results]
            if left and done.run is not None and not done.is_interrupted:
                lifted.without_result.setdefault(reason_of_end(done), []).extend(left)
            lifted.ran.update(asked)  # without a result, a test has none in another run either
        elif done.tests.running:
            lifted.ran.add(done.tests.running)
        lifted.ran.update(done.tests.results)
        self.failed.update({*done.tests.results} - {*done.tests.of("passed")})

    def postpone(self, title: str) -> None:
        """Note that there was no time for a lifted run."""
        self.lifted.setdefault(title, Lifted()).is_cut = True

    def notes(self) -> Iterator[str]:
        """Yield what kept tests of the suite from being run or lifted."""
        yield from notes_of(self.suite, self.control)
        if not self.control.lacks():
            for test in sorted(self.left_out - {*self.control.tests.results}):
                yield f"{test} ran until the time of a run was over, and was left out; --timeout ends it sooner"
        for title, each in self.lifted.items():
            for said, left in each.without_result.items():
                count = f"{len(left)} of {len(each.ran)} {self.suite.name} {'has' if len(left) == 1 else 'have'}"
                yield f"{count} no result {title}; pytest ended with: {said}"
            if each.is_cut:
                yield f"{OVER} all {self.suite.name} ran {title}; --budget gives more"
