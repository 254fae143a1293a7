"""Run a suite once in a world, its tests lifted where there is a GPU, and read the results."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from devfix.execution import TracedRunner
from devfix.execution.runner import Tree, WorktreePool
from devfix.execution.slots import Speculation
from devfix.find.results import Served, SilentFinding, TestResults, read_results
from devfix.find.suites import Suite
from devfix.model import Failure, Outcome, Run, World
from devfix.process.tempdirs import temporary_folder
from devfix.trace import read_all

OF_PYTEST = "INTERNALERROR> "  # begins the lines of an exception that no test, but pytest itself has ended by
HANDLED = "handled"  # the folder in which the plugin writes what was caught
USAGE, NONE_COLLECTED = 4, 5  # pytest's exit codes
_FRUITLESS = 5  # runs in a row that end at their first test: so do all
_LOOK = 0.5  # seconds between two looks at what is written
Shown = Callable[[str, TestResults], None]


@dataclass(frozen=True)
class PassOptions:
    """The settings of each run: its tests, their time limits, and the number of processes."""

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    timeout: float = 120.0
    processes: int = 1


@dataclass
class PassResult:
    """The result of a run: its tests, the failures by the test that they failed, and how it ended.

    `handled` are the failures that were caught, each with its test.
    """

    tests: TestResults
    failures: dict[str, Failure] = field(default_factory=dict)
    handled: list[tuple[str, Failure]] = field(default_factory=list)
    silent: list[tuple[str, SilentFinding]] = field(default_factory=list)
    served: dict[str, Served] = field(default_factory=dict)
    run: Run | None = None
    is_interrupted: bool = False

    @property
    def is_cut(self) -> bool:
        """True if its time was over before all tests had run."""
        return self.run is not None and self.run.outcome is Outcome.TIMEOUT

    def lacks(self, asked: Collection[str] = ()) -> bool:
        """Return whether its time was over before each of some tests, or of those that were collected, had a result."""
        results = self.tests.results
        missing = any(test not in results for test in asked) if asked else len(results) < self.tests.collected
        return self.is_cut and (missing or not results)


class SuiteRunner:
    """Runs pytest in worktrees of the repository."""

    def __init__(self, runner: TracedRunner, options: PassOptions, scratch: Path, show: Shown) -> None:
        self.runner, self.options, self.scratch, self.show = runner, options, scratch, show
        self.plain_options = False
        self.processor = 0.0  # seconds of processor time that the tests have taken
        self._lock = threading.Lock()

    def run(
        self,
        suite: Suite,
        world: World,
        seconds: float,
        skip: Sequence[str] = (),
        only: Sequence[str] = (),
        title: str = "",
        more: Sequence[str] = (),
        interrupt: Speculation | None = None,
        fresh: bool = False,
    ) -> PassResult:
        """Run a suite for so many seconds; tests that end the process are left out, and the rest is run again.

        `more` are options of pytest. Unless `fresh`, a warm process runs it if one fits. A thread that is not the main
        one, which alone is told of an interrupt by the system, is told of it by `interrupt`.
        """
        suite = replace(suite, arguments=(*more, *suite.arguments))
        found = PassResult(TestResults())
        left_out = list(skip)
        deadline = time.monotonic() + seconds
        fruitless = 0
        while True:
            part = self._once(suite, world, deadline - time.monotonic(), left_out, only, title, interrupt, fresh)
            merge(found, part)
            killer = part.tests.running
            found.is_interrupted = part.is_interrupted
            is_whole = not killer or killer in part.tests.results
            fruitless = 0 if part.tests.results else fruitless + 1
            if part.run is None or part.is_interrupted or is_whole or time.monotonic() > deadline - 1:
                return found
            found.tests.results[killer], found.tests.reasons[killer] = "ended", _ending(part.run)
            if fruitless == _FRUITLESS:
                return found
            left_out = [*skip, *found.tests.results]

    def _once(
        self,
        suite: Suite,
        world: World,
        seconds: float,
        skip: Sequence[str],
        only: Sequence[str],
        title: str,
        interrupt: Speculation | None,
        fresh: bool,
    ) -> PassResult:
        with temporary_folder("lifted", self.scratch) as folder:
            self._order(folder, skip, only)
            words = self._words(suite, folder)
            ended = threading.Event()
            watcher = threading.Thread(target=self._watch, args=(folder, title, ended), daemon=True)
            watcher.start()
            tree = _Kept(self.runner.worktrees)
            runner = self.runner.running(*words, timeout=max(seconds, 1.0))
            runner.target = replace(runner.target, timeout=max(seconds, 1.0))
            runner.worktrees = tree
            run, is_interrupted = None, False
            try:
                run = self._run(runner, world, interrupt, fresh)
                if run.exit_code == USAGE and not self.plain_options:
                    self.plain_options = True  # addopts name a plugin that is not there
                    runner.target = replace(
                        runner.target, command=(str(runner.target.python), *self._words(suite, folder))
                    )
                    run = self._run(runner, world, interrupt, fresh)
            except KeyboardInterrupt:
                is_interrupted = True  # what was written until now counts
            finally:
                ended.set()
                watcher.join()
            told = read_results(folder)
            within = f"{os.path.realpath(tree.path)}{os.sep}"
            told.reasons = {test: reason.replace(within, "") for test, reason in told.reasons.items()}
            tracked = self.runner.tracked
            return PassResult(
                told,
                dict(_failures(folder, tree.path, tracked)),
                list(_failures(folder / HANDLED, tree.path, tracked)),
                list(_silent(told, tree.path, tracked)),
                dict(_find_served(told, tree.path, tracked)),
                run,
                is_interrupted,
            )

    def _run(self, runner: TracedRunner, world: World, interrupt: Speculation | None, fresh: bool) -> Run:
        run = runner.run(world, totals=False, ahead=interrupt, fresh=fresh)
        with self._lock:
            self.processor += run.processor
        return run

    def _order(self, folder: Path, skip: Sequence[str], only: Sequence[str]) -> None:
        options = self.options
        told = {
            "select": options.select,
            "exclude": options.exclude,
            "skip": list(skip),
            "only": list(only),
            "timeout": options.timeout,
        }
        (folder / "order.json").write_text(json.dumps(told), "utf-8")

    def _words(self, suite: Suite, folder: Path) -> tuple[str, ...]:
        plain = ("-o", "addopts=") if self.plain_options else ()
        many = ("-n", str(self.options.processes)) if self.options.processes > 1 else ()
        # Names of tests begin at the folder that is searched, whichever configuration pytest finds by its arguments.
        own = ("--rootdir=.", "-p", "no:cacheprovider", "--continue-on-collection-errors", "--tb=short", "-q")
        every = ("--maxfail=0",)  # whatever addopts say: one that fails does not keep the others from running
        return (
            *("-m", "pytest", *plain, *own, *every, *many),
            # As two words pytest would take the folder for one of the suite's, and look for the root above both.
            *("--devfix-lift", f"--lift-record={folder}", *suite.arguments),
        )

    def _watch(self, folder: Path, title: str, ended: threading.Event) -> None:
        while not ended.wait(_LOOK):
            self.show(title, read_results(folder))


def _ending(run: Run) -> str:
    """Return how a run ended before the test that it was at had a result."""
    lines = (run.stdout + run.stderr).splitlines()
    said = [line.removeprefix(OF_PYTEST).strip() for line in lines if line.startswith(OF_PYTEST)]
    return said[-1] if said else "it ended the process"


class _Kept:
    """Worktrees that remember which one was taken last."""

    def __init__(self, worktrees: WorktreePool) -> None:
        self._worktrees = worktrees
        self.path = Path()

    def take(self) -> Tree:
        tree = self._worktrees.take()
        self.path = tree.path
        return tree

    def give(self, tree: Any, /) -> None:
        self._worktrees.give(tree)


def _silent(told: TestResults, tree: Path, tracked: frozenset[str]) -> Iterator[tuple[str, SilentFinding]]:
    """Yield what tests have shown of files of the repository, with their paths in it."""
    for test, found in told.silent.items():
        for each in found:
            path, entered = _inside(tree, each.path), _inside(tree, each.entered[0])
            if path in tracked:
                yield test, replace(each, path=path, entered=(entered, each.entered[1]))


def _find_served(told: TestResults, tree: Path, tracked: frozenset[str]) -> Iterator[tuple[str, Served]]:
    """Yield where the tensors were made by which caches have failed tests, with their paths in the repository."""
    for test, each in told.served.items():
        path = _inside(tree, each.path)
        if path in tracked:
            yield test, replace(each, path=path)


def _inside(tree: Path, path: str) -> str:
    """Return the path of a file in the repository; one outside of it as it is."""
    found = os.path.relpath(path, os.path.realpath(tree))
    return path if found.startswith("..") else found


def _failures(folder: Path, tree: Path, tracked: frozenset[str]) -> Iterator[tuple[str, Failure]]:
    """Yield the failures of devices that a folder tells of, each with its test; read before the worktree changes."""
    order = folder / "order.json"
    order.unlink(missing_ok=True)
    traces, _ = read_all(folder, tree, tracked)
    for each in traces:
        if each.failure is not None and each.failure.test:
            yield each.failure.test, each.failure


def merge(found: PassResult, part: PassResult) -> None:
    """Add the results of one run to those of others of the same tests."""
    found.run = part.run
    found.failures.update(part.failures)
    found.handled.extend(part.handled)
    found.silent.extend(part.silent)
    found.served.update(part.served)
    found.tests.untold.update(part.tests.untold)
    found.tests.told.update(part.tests.told)
    found.tests.results.update(part.tests.results)
    found.tests.reasons.update(part.tests.reasons)
    found.tests.collection.update(part.tests.collection)
    found.tests.collected = max(found.tests.collected, part.tests.collected)
    found.tests.running = part.tests.running
    found.tests.root = part.tests.root or found.tests.root
