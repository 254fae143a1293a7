"""Run a repository's tests on the CPU, lifted, and lifted on a second GPU; what fails only there is a finding."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from devfix.config import read_config
from devfix.discovery import examine, interpreter
from devfix.errors import UserError
from devfix.execution import TracedRunner
from devfix.find.causes import cause_of, confirmed, confirmed_silent, explained, grouped, silent_cause
from devfix.find.passes import PassOptions, PassResult, Shown, SuiteRunner
from devfix.find.records import Cause, FindReport
from devfix.find.results import TestResults
from devfix.find.suites import Suite, is_test_file, suites
from devfix.model import SourceLocation, Target, World
from devfix.process import can_protect, default_limits
from devfix.process.tempdirs import scratch_folder
from devfix.registry import Rule
from devfix.registry.selection import rules_for
from devfix.sdk import Sources
from devfix.workspace import Repository

CPU, ONE, TWO = World("cpu"), World("simulated", 1), World("simulated", 2)
BUDGET, TIMEOUT = 3600.0, 120.0  # seconds for everything, and for one test
ALONE = 300.0  # seconds for one test in a fresh process
_MISSING = re.compile(r"No module named '([\w.]+)'")
Known = frozenset[tuple[str, str, str]]


@dataclass(frozen=True)
class FindOptions:
    """What the caller asked for; `budget` counts seconds for all, `timeout` for one test, `known` is the baseline.

    `silent` asks for what fails nowhere, too.
    """

    python: str | None = None
    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    timeout: float = TIMEOUT
    budget: float = BUDGET
    processes: int = 1
    known: Known = frozenset()
    rules: tuple[Path, ...] = ()
    silent: bool = True


def find(path: str | Path, asked: FindOptions, show: Shown, step: Callable[[str], None]) -> FindReport:
    """Search the repository at `path` for device failures that its tests reach when their inputs lie on a GPU.

    `show` is told what a run has done so far, `step` each step as it begins. Raises UserError for wrong usage; an
    interrupt ends the search, and the report has what was found.
    """
    repository = Repository.open(Path(path))
    config = read_config(repository.root, repository.subfolder)
    python = interpreter(repository.root, asked.python or config.python)
    told = examine(python, repository.root)
    if not told.pytest:
        raise UserError(f"{python} has no pytest; install it there, or name another interpreter with --python")
    catalog = rules_for(config, asked.rules)
    tracked = repository.tracked()
    found = suites(sorted(tracked), repository.content, repository.subfolder, asked.select)
    target = Target(repository.root, repository.commit, (str(python),), python, ONE, asked.budget)
    with scratch_folder() as scratch, repository.worktrees(1) as worktrees:
        borrowed = worktrees.borrowed
        protected = borrowed if borrowed and can_protect(borrowed) else ()
        runner = TracedRunner(target, worktrees, tracked, None, protected, default_limits(), None, scratch)
        options = PassOptions(asked.select, asked.exclude, asked.timeout, asked.processes)
        suite_runner = SuiteRunner(runner, options, scratch, show)
        search = _Search(suite_runner, catalog.rules, _sources(repository), asked.budget, step)
        search.notes += catalog.troubles
        search.wants_silent = asked.silent
        try:
            for suite in found:
                search.look(suite)
            search.confirm()
        except KeyboardInterrupt:
            search.interrupted = True
        return search.report(repository, asked.known)


@dataclass
class _Search:
    """A search in progress."""

    runner: SuiteRunner
    rules: Sequence[Rule]
    sources: Sources
    budget: float
    step: Callable[[str], None]
    began: float = field(default_factory=time.monotonic)
    seconds: dict[str, float] = field(default_factory=dict)
    control: TestResults = field(default_factory=TestResults)
    lifted: TestResults = field(default_factory=TestResults)
    found: list[tuple[Cause, Suite]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    interrupted: bool = False
    wants_silent: bool = True

    @property
    def left(self) -> float:
        """The seconds that are left of the budget."""
        return self.budget - (time.monotonic() - self.began)

    def look(self, suite: Suite) -> None:
        """Run a suite in three worlds."""
        control = self._pass(suite, CPU, "cpu", f"running the {suite.name} on the CPU")
        _join(self.control, control.tests)
        _stop_where_interrupted(control)
        self._note_failures(suite, control)
        if not control.tests.of("passed"):
            return
        skip = control.tests.of("failed", "other", "skipped", "ended")
        for world, name in ((ONE, "lifted"), (TWO, "second")):
            device = f"cuda:{world.gpus - 1}"
            if self.left <= 0:
                self.notes.append(f"the budget was over before the {suite.name} ran on {device}; --budget gives more")
                return
            done = self._pass(suite, world, name, f"running the {suite.name}, lifted to {device}", skip)
            if world == ONE:
                _join(self.lifted, done.tests)
            self._take(done, suite, device)
            _stop_where_interrupted(done)

    def _take(self, done: PassResult, suite: Suite, device: str) -> None:
        for test in done.tests.of("finding"):
            failure = done.failures.get(test)
            if failure is not None:
                cause = cause_of(failure, test, device, explained(failure, self.rules, self.sources), _is_test)
                self.found.append((replace(cause, is_example=suite.is_examples), suite))
        if self.wants_silent:
            self.found += [(silent_cause(each, test, device), suite) for test, each in done.silent]
        self.causes = grouped(cause for cause, _ in self.found)

    def confirm(self) -> None:
        """Run the first test of each cause alone, in a fresh process."""
        for number, cause in enumerate(self.causes, 1):
            if self.left <= 0:
                self.notes.append("the budget was over before every finding was run alone; --budget gives more")
                return
            suite = next(suite for each, suite in self.found if each.key == cause.key)
            world = ONE if "cuda:0" in cause.devices else TWO
            title = f"running finding {number} of {len(self.causes)} alone"
            done = self._pass(_alone(suite, cause.tests[0]), world, "confirm", title, only=cause.tests[:1])
            if cause.failure is None:
                self.causes[number - 1] = confirmed_silent(cause, [each for _, each in done.silent])
            else:
                self.causes[number - 1] = confirmed(cause, done.failures.get(cause.tests[0]), _is_test)

    def _pass(
        self, suite: Suite, world: World, name: str, title: str, skip: Sequence[str] = (), only: Sequence[str] = ()
    ) -> PassResult:
        self.step(title)
        with self._timed(name):
            seconds = min(self.left, ALONE) if only else self.left
            return self.runner.run(suite, world, max(seconds, 1.0), skip, only, title)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.monotonic() - began, 3)

    def _note_failures(self, suite: Suite, control: PassResult) -> None:
        """Say why nothing, or less than there is, can be lifted; missing modules are reported by their names."""
        tests, run = control.tests, control.run
        broken = [reason for reason in tests.collection.values() if not _MISSING.search(reason)]
        if broken:
            count = "1 file" if len(broken) == 1 else f"{len(broken)} files"
            self.notes.append(f"{count} of the {suite.name} could not be collected: {_most_common(broken)}")
        if tests.results and not tests.of("passed", "skipped"):
            self.notes.append(f"none of the {suite.name} passes on the CPU: {_most_common(tests.reasons.values())}")
        if not tests.results and not tests.collection:
            lines = (run.stdout + run.stderr).strip().splitlines() if run is not None else []
            self.notes.append(f"pytest ran none of the {suite.name}" + (f": {lines[-1]}" if lines else ""))

    def report(self, repository: Repository, known: Known) -> FindReport:
        """Tell what was found."""
        lifted, control = self.lifted, self.control
        reasons = lifted.reasons
        passed = frozenset(control.of("passed"))
        old = [each for each in self.causes if baseline_key(each) in known]
        return FindReport(
            root=str(repository.root),
            commit=repository.commit,
            tests=len(control.results) - len(control.of("skipped")),
            passed_cpu=len(passed),
            passed_lifted=len(passed.intersection(lifted.of("passed"))),
            skipped=len(control.of("skipped")),
            artefacts={test: reasons.get(test, "") for test in lifted.of("artefact")},
            failed_cpu=tuple(control.of("failed", "other", "ended")),
            failed_lifted={test: reasons.get(test, "") for test in lifted.of("other", "failed", "ended")},
            missing=tuple(sorted(set(_missing(control)))),
            causes=tuple(each for each in self.causes if baseline_key(each) not in known),
            known=tuple(old),
            seconds={**self.seconds, "total": round(time.monotonic() - self.began, 3)},
            notes=tuple(dict.fromkeys(self.notes)),
            interrupted=self.interrupted,
        )


def baseline_key(cause: Cause) -> tuple[str, str, str]:
    """What a cause is known by in a baseline: lines move, so the function and the rule stand for the place."""
    return (cause.kind, f"{cause.place.path}:{cause.place.function}", cause.rule)


def _is_test(place: SourceLocation) -> bool:
    return is_test_file(place.path)


def _sources(repository: Repository) -> Sources:
    """The files that rules may look at: those of the code under test."""
    tracked = repository.tracked()

    def read(path: str) -> bytes | None:
        return repository.content(path) if path in tracked and not is_test_file(path) else None

    return Sources(read, repository.containing)


def _stop_where_interrupted(done: PassResult) -> None:
    if done.is_interrupted:
        raise KeyboardInterrupt


def _alone(suite: Suite, test: str) -> Suite:
    """The run of one test of a suite: its file is all that is collected."""
    options = tuple(word for word in suite.arguments if word.startswith("-"))
    return replace(suite, arguments=(*options, test.partition("::")[0]))


def _join(whole: TestResults, part: TestResults) -> None:
    whole.results.update(part.results)
    whole.reasons.update(part.reasons)
    whole.collection.update(part.collection)
    whole.collected += part.collected


def _most_common(reasons: Iterable[str]) -> str:
    """Return the last line that most of some reasons have: of a traceback, the exception."""
    last = Counter(reason.strip().splitlines()[-1].removeprefix("E ").strip() for reason in reasons if reason.strip())
    return last.most_common(1)[0][0] if last else "no reason is known"


def _missing(control: TestResults) -> Iterator[str]:
    """Yield the modules that tests could not import, each once."""
    for text in (*control.collection.values(), *control.reasons.values()):
        yield from {name.partition(".")[0] for name in _MISSING.findall(text)}
