"""A search: suites on the CPU, lifted, lifted on a second GPU, and lifted twice; what fails only there is a finding."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from devfix.discovery.test_files import is_in_test
from devfix.find.causes import Seen, cause_of, failing_place, handled_cause, silent_cause, stale_cause
from devfix.find.confirmation import CauseRun, Confirmation
from devfix.find.control import asking_for_gpus, missing_modules, needing_gpus, own_modules
from devfix.find.coverage import OVER, Coverage
from devfix.find.explanations import Explanations
from devfix.find.grouping import group_causes, is_same_tensor, join_by_remedy
from devfix.find.lifted_pass import TELLS, TWICE, LiftedPass
from devfix.find.passes import NONE_COLLECTED, PassResult, SuiteRunner
from devfix.find.records import Cause, FindReport, options_past
from devfix.find.results import TestResults
from devfix.find.suites import Suite, SuiteKind
from devfix.model import DeviceType, SilentKind, World
from devfix.notes import Notes
from devfix.progress import StepTimes
from devfix.registry import Rule
from devfix.sdk import Sources
from devfix.workspace import Repository

CPU = World("cpu")
LIFTED = "lifted"
FOR_SUITES = 0.9  # of the budget; the rest confirms what they show
_HIDDEN = 3  # runs that go past what is known
_LEAST, _LEAST_SHARE = 20.0, 0.15  # seconds, and share of the budget, that are left for a further round of tests
_FOR_CAUSE, _FOR_CAUSES = 0.05, 0.25  # of the budget, beside what is kept in any case, to run each alone, and for all
_FOR_CONTROL = 0.3  # of a suite's time: the lifted runs, each somewhat longer, get as far as the one on the CPU


@dataclass
class Search:
    """A search in progress."""

    runner: SuiteRunner
    rules: Sequence[Rule]
    sources: Sources
    budget: float
    step: Callable[[str], None]
    silent: frozenset[SilentKind]
    notes: Notes
    worlds: tuple[World, ...]
    keeps_tensors: bool = True
    includes_handled: bool = True
    began: float = field(default_factory=time.monotonic)
    seconds: StepTimes = field(default_factory=StepTimes)
    processor_seconds: StepTimes = field(default_factory=StepTimes)
    control: TestResults = field(default_factory=TestResults)
    lifted: TestResults = field(default_factory=TestResults)
    found: list[tuple[Cause, Suite]] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    coverage: dict[Suite, Coverage] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def left(self) -> float:
        """The seconds that are left of the budget."""
        return self.budget - (time.monotonic() - self.began)

    @property
    def _until_causes(self) -> float:
        """The time from which on what was found is run alone, which nobody would believe otherwise."""
        return self.began + self.budget * (FOR_SUITES - min(_FOR_CAUSES, _FOR_CAUSE * len(self.causes)))

    @property
    def has_no_tests(self) -> bool:
        """True if pytest had the time to collect the tests, and none was to be run."""
        if self.left <= 0 or self.left_out or self.control.results or self.control.collection:
            return False
        runs = (each.control.run for each in self.coverage.values())
        return all(run is None or run.exit_code in (0, NONE_COLLECTED) for run in runs)

    def look(self, suite: Suite, share: float = 1.0) -> None:
        """Run a suite in its worlds, with a share of the time that is left; what a pass does not need the next has.

        When it is called again, what has not been run runs.
        """
        until = time.monotonic() + self.left * share
        coverage = self.coverage.setdefault(suite, Coverage(suite))
        if coverage.lacks_control and not coverage.is_unlifted:
            self._run_control(coverage, self.left * share * _FOR_CONTROL)
        for each in self._lifted_passes():
            until = min(until, self._until_causes)
            asked = coverage.select_tests(
                each.title, passing=each.is_twice
            )  # what fails by itself says nothing of a cache
            if not asked:
                continue
            if until - time.monotonic() <= 0 or (each.name != LIFTED and coverage.is_unlifted):
                coverage.postpone(each.title)
                continue
            title = f"running the {suite.name}, {each.title}"
            share = (until - time.monotonic()) * each.share
            done = self._pass(suite, each.world, each.name, title, only=asked, more=each.more, share=share)
            if each.name == LIFTED:
                _join(self.lifted, done.tests)
            self._take(done, suite, each)
            _stop_where_interrupted(done)
            coverage.add_lifted(each.title, asked, done)
            if each.name == LIFTED:
                self._look_behind(suite, each, done, until)
                self._tell_devices(suite, each, done, until)

    def _run_control(self, coverage: Coverage, seconds: float) -> None:
        suite = coverage.suite
        title = f"running the {suite.name} on the CPU"
        control = self._pass(suite, CPU, "cpu", title, share=seconds, skip=sorted(coverage.left_out))
        coverage.add_control(control)
        self._count(suite, control.tests)
        _stop_where_interrupted(control)

    def has_time_for_more(self, suite: Suite) -> bool:
        """Return whether enough is left of the budget to reach tests of a suite that have not run."""
        is_enough = self.left > max(_LEAST, self.budget * _LEAST_SHARE)
        return is_enough and suite in self.coverage and self.coverage[suite].is_unfinished

    def _look_behind(self, suite: Suite, run: LiftedPass, done: PassResult, until: float) -> None:
        """Run the tests that end in a finding again, past the lines at which they fail: what else they reach."""
        past: tuple[str, ...] = ()
        for _ in range(_HIDDEN):
            failures = [(test, done.failures[test]) for test in done.tests.of("finding") if test in done.failures]
            places = {place: test for test, failure in failures if (place := failing_place(failure, is_in_test))}
            asked = [test for test, _ in failures]
            if not set(places) - set(past) or until - time.monotonic() <= 0:
                return
            past = tuple(dict.fromkeys((*past, *places)))
            run = replace(run, name="behind", more=options_past(past), past=past)
            title = f"running the {suite.name} past what is known, {run.title}"
            share = (until - time.monotonic()) * run.share
            done = self._pass(suite, run.world, run.name, title, only=asked, more=run.more, share=share)
            self._take(done, suite, run)
            _stop_where_interrupted(done)

    def _tell_devices(self, suite: Suite, run: LiftedPass, done: PassResult, until: float) -> None:
        """Run the tests that leave a `device` out again, with calls that are told the GPU by it."""
        asked = [test for test in done.tests.results if test in done.tests.untold]
        if not asked or until - time.monotonic() <= 0:
            return
        run = replace(run, name="told", more=(TELLS,))
        title = f"running the {suite.name} that leave a device out, {run.title}"
        share = (until - time.monotonic()) * run.share
        done = self._pass(suite, run.world, run.name, title, only=asked, more=run.more, share=share)
        self._take(done, suite, run)
        _stop_where_interrupted(done)

    def _lifted_passes(self) -> Iterator[LiftedPass]:
        name = self.worlds[0].device.value
        two = self.worlds[-1] if len(self.worlds) > 1 else None
        looks_twice = self.keeps_tensors and bool(self.silent - {SilentKind.RESULT_ON_HOST})
        yield LiftedPass(LIFTED, self.worlds[0], f"lifted to {name}:0", 0.4 if two else 1.0)
        if two is not None:
            yield LiftedPass("second", two, f"lifted to {name}:1", 0.5 if looks_twice else 1.0)
            if looks_twice:
                yield LiftedPass("twice", two, f"lifted to {name}:0, then to {name}:1", 1.0, (TWICE,))

    def _count(self, suite: Suite, control: TestResults) -> None:
        """Count the tests of the control; scripts that do not run by themselves are none."""
        if suite.kind is SuiteKind.scripts:
            reasons = control.reasons
            failed = [test for test in control.results if test not in control.of("passed")]
            self.left_out.update({test.partition("::")[0]: reasons.get(test, "") for test in failed})
            for test in failed:
                del control.results[test]
        _join(self.control, control)

    def _take(self, done: PassResult, suite: Suite, run: LiftedPass) -> None:
        device = f"{run.world.device.value}:{run.world.gpus - 1}"
        for test in done.tests.of("finding"):
            failure, served = done.failures.get(test), done.served.get(test)
            seen = Seen(test, suite.kind, device, run.shown_by, run.past)
            if failure is None or (run.is_twice and served is None):
                continue  # the tests failed by the warm-up itself
            if run.tells and test not in done.tests.told:
                continue  # other runs show that
            if served is not None:
                self.found.append((stale_cause(failure, served, seen, self._explanations.explain(failure)), suite))
            else:
                cause = cause_of(failure, seen, self._explanations.explain(failure), is_in_test)
                if not ((run.past or run.tells) and self._is_known(cause)):
                    self.found.append((cause, suite))
        if self.includes_handled and not run.shown_by:
            for test, failure in done.handled:
                seen = Seen(test, suite.kind, device, past=run.past)
                self.found.append(
                    (handled_cause(failure, seen, self._explanations.explain(failure), is_in_test), suite)
                )
        wanted = self.silent - {SilentKind.RESULT_ON_HOST} if run.is_twice else self.silent
        self.found += [
            (silent_cause(each, Seen(test, suite.kind, device, run.shown_by, run.past)), suite)
            for test, each in done.silent
            if each.kind in wanted and (each.is_told or not run.tells)
        ]
        self.causes = group_causes(cause for cause, _ in self.found)

    def _is_known(self, cause: Cause) -> bool:
        """Return whether a tensor has a cause already: past that, it may fail otherwise."""
        return any(is_same_tensor(each, cause) for each in self.causes)

    @cached_property
    def _explanations(self) -> Explanations:
        return Explanations(self.rules, self.sources)

    def confirm(self) -> None:
        """Run the first test of each cause alone, in a fresh process."""
        if not self.causes:
            return
        title = f"running {f'each of {number} findings' if (number := len(self.causes)) > 1 else 'the finding'} alone"
        self.step(title)
        confirmation = Confirmation(self.runner, self._explanations.explain, lambda: self.left, self.causes.__setitem__)
        with self._time_step("confirm"):
            if not confirmation.run([self._run_of(cause) for cause in self.causes], title):
                self.notes.add(f"{OVER} every finding was run alone; --budget gives more")
        self.causes = join_by_remedy(self.causes)

    def _run_of(self, cause: Cause) -> CauseRun:
        shown = (cause.tests[0], cause.suite)
        suite = next(suite for each, suite in self.found if (each.tests[0], each.suite) == shown)
        return CauseRun(cause, suite, self.worlds[0] if cause.is_seen_on_one else self.worlds[-1])

    def _pass(
        self,
        suite: Suite,
        world: World,
        name: str,
        title: str,
        only: Sequence[str] = (),
        more: Sequence[str] = (),
        share: float = math.inf,
        skip: Sequence[str] = (),
    ) -> PassResult:
        self.step(title)
        with self._time_step(name):
            return self.runner.run(suite, world, max(min(self.left, share), 1.0), skip, only, title, more)

    @contextmanager
    def _time_step(self, name: str) -> Iterator[None]:
        with self.seconds.measure(name), self.processor_seconds.measure(name, lambda: self.runner.processor):
            yield

    def report(self, repository: Repository) -> FindReport:
        """Report what was found."""
        lifted, control = self.lifted, self.control
        self.notes.add(*chain.from_iterable(each.notes() for each in self.coverage.values()))
        reasons, missing = lifted.reasons, missing_modules(control)
        self.notes.add(*own_modules(missing, repository.tracked_paths()))
        passed, asking = frozenset(control.of("passed")), frozenset(asking_for_gpus(control))
        needing, able = frozenset(needing_gpus(control)), passed | asking
        return FindReport(
            root=str(repository.root),
            commit=repository.commit,
            tests=len(control.results) - len(control.of("skipped")),
            passed_cpu=len(passed),
            passed_lifted=len(passed.intersection(lifted.of("passed"))),
            passed_on_gpu_alone=len(needing.intersection(lifted.of("passed"))),
            skipped=len(control.of("skipped")),
            artefacts={test: reasons.get(test, "") for test in lifted.of("artefact") if test in able},
            failed_cpu=tuple(each for each in control.of("failed", "other", "ended") if each not in asking),
            failed_lifted={
                test: reasons.get(test, "") for test in lifted.of("other", "failed", "ended") if test in able
            },
            missing=missing,
            causes=tuple(self.causes),
            seconds={**self.seconds, "total": round(time.monotonic() - self.began, 3)},
            processor_seconds=dict(self.processor_seconds),
            notes=tuple(self.notes),
            left_out=dict(self.left_out),
            interrupted=self.interrupted,
        )


def worlds_for(device: DeviceType, gpus: int) -> tuple[World, ...]:
    """Return the worlds in which tests are lifted: one GPU of a kind, and two where such a machine can have them."""
    return tuple(World("simulated", count, device=device) for count in range(1, min(gpus, device.most) + 1))


def _stop_where_interrupted(done: PassResult) -> None:
    if done.is_interrupted:
        raise KeyboardInterrupt


def _join(whole: TestResults, part: TestResults) -> None:
    whole.results.update(part.results)
    whole.reasons.update(part.reasons)
    whole.collection.update(part.collection)
    whole.collected += part.collected
