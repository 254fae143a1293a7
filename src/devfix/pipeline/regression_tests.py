"""Add regression tests for fixes: each is verified to fail without its fix and to pass with it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread

from devfix.errors import BudgetSpentError
from devfix.execution.device_matrix import worlds_to_verify
from devfix.model import DeviceType, Failure, Fix, Outcome, Patch, RegressionTest, Repair
from devfix.notebooks.notebook import is_notebook
from devfix.notes import Notes
from devfix.pipeline.opening.session import Session
from devfix.pipeline.opening.speculative_tests import TestRunner
from devfix.regression_tests import (
    Candidate,
    RegressionTestVerifier,
    TestLayout,
    candidates,
    find_home,
    own_words,
    program,
)


def add_regression_tests(session: Session, repairs: Sequence[Repair], seconds: float) -> list[Repair]:
    """Return the repairs, each fix with its test or the reason for having none; the program runs for `seconds`."""
    home = _home(session)
    session.speculative_tests.end([each.fix.patch.edits for each in repairs if each.fix])
    if home is None:
        return list(repairs)
    if not session.has_pytest:
        why = f"{session.target.python} has no pytest"
        return [replace(repair, no_test_reason=why) if repair.fix else repair for repair in repairs]
    return list(_TestFinder(session, home).repairs(repairs, seconds))


def prepare_regression_tests(session: Session) -> None:
    """Start the process in which tests run, in the background, if fixes get tests."""
    if session.has_pytest and _home(session) is not None:
        Thread(target=session.test_server.observer, daemon=True).start()


def begin_regression_test(session: Session, failure: Failure, seconds: float, patch: Patch) -> None:
    """Begin the runs of tests for a patch that may become the fix, in the background, if fixes get tests.

    The program fails after `seconds`. What is found is not used: the tests are looked for again once the fix is known,
    and then most of them have run.
    """
    home = _home(session)
    if home is None or not session.has_pytest or all(is_notebook(edit.path) for edit in patch.edits):
        return
    before = dict(session.files)
    after = {**before, **{edit.path: edit.after for edit in patch.edits}}
    session.speculative_tests.begin(
        patch.edits, _TestFinder(session, home).rehearsal(failure, patch, (before, after, after), seconds)
    )


def _home(session: Session) -> TestLayout | None:
    """Return the layout of the repository's tests; None if fixes get none."""
    below = f"{session.target.subfolder}/" if session.target.subfolder else ""
    tracked = [path for path in session.observer.tracked if path.startswith(below) or "/" not in path]
    return find_home(tracked, session.target.subfolder, session.repository.content) if session.wants_tests else None


States = tuple[dict[str, bytes], dict[str, bytes], dict[str, bytes]]


class _TestFinder:
    """Finds the test for each fix of one repair."""

    def __init__(self, session: Session, home: TestLayout) -> None:
        self._session, self._home = session, home
        self._taken = {Path(path).name for path in session.observer.tracked}
        self._known: dict[tuple[str, ...], str] = {}

    def repairs(self, repairs: Sequence[Repair], seconds: float) -> Iterator[Repair]:
        """Yield the repairs with their tests; the index of a fix counts only repairs that have one."""
        states: list[dict[str, bytes]] = [{}]
        fixes = [repair.fix for repair in repairs if repair.fix]
        for fix in fixes:
            states.append({**states[-1], **{edit.path: edit.after for edit in fix.patch.edits}})
        number = 0
        for repair in repairs:
            if repair.fix is None:
                yield repair
                continue
            around = (states[number], states[number + 1], states[-1])
            outcomes = fixes[-1].verdict.worlds
            try:
                yield self._with_test(repair, repair.fix, around, number, len(fixes), seconds, outcomes)
            except BudgetSpentError:
                yield replace(repair, no_test_reason="the budget was over before a test was verified")
            number += 1

    def _with_test(
        self,
        repair: Repair,
        fix: Fix,
        states: States,
        number: int,
        count: int,
        seconds: float,
        outcomes: Mapping[str, str],
    ) -> Repair:
        """Return a repair with its test; `outcomes` are those of the program in each world, with every fix."""
        session, failure = self._session, repair.failure
        if all(is_notebook(edit.path) for edit in fix.patch.edits):
            return replace(repair, no_test_reason="its code is in a notebook, which no test can import")
        path = self._path(fix.patch)
        if path is None:
            return replace(repair, no_test_reason="git ignores the tests' folder, or --exclude keeps it as it is")
        session.progress(f"writing a test for {Path(fix.patch.edits[0].path).name}")
        judge = self._judge(session.speculative_tests.run, failure, states, path, outcomes)
        if failure.test and judge.own([failure.test], session.world):
            return replace(repair, no_test_reason=self._existing([failure.test]))
        reasons = Notes()
        kept = judge.choose(self._candidates(failure, fix.patch, seconds, reasons))
        if kept is None and (words := own_words(session.target, failure.test)) and judge.own(words, session.world):
            return replace(repair, no_test_reason=self._existing(words))
        if kept is None:
            why = judge.why or next(iter(reasons), "no call of the fixed code can be written down")
            return replace(repair, no_test_reason=why)
        if (known := self._known.get(kept.candidate.body.lines)) is not None:
            return replace(repair, no_test_reason=f"{known}, the test of a fix before, fails without this one too")
        self._taken.add(Path(path).name)
        self._known[kept.candidate.body.lines] = path
        since = number if kept.since == 0 else count - 1
        return replace(
            repair, regression_test=RegressionTest(path, kept.text, kept.candidate.drives, kept.worlds, since)
        )

    def rehearsal(
        self, failure: Failure, patch: Patch, states: States, seconds: float
    ) -> Callable[[TestRunner], object]:
        """Return a search for the test of a patch, which runs tests by the runner that it is given.

        It takes the program for clean in all worlds, so that a test that starts the program runs in one alone.
        """
        words, world = [failure.test] if failure.test else [], self._session.world
        tests = list(self._candidates(failure, patch, seconds, Notes()))
        path = self._path(patch)
        every = worlds_to_verify(world, self._session.gpus_seen)
        outcomes = {each.name: Outcome.CLEAN.value for each in every}

        def search(run: TestRunner) -> None:
            if path is not None:
                judge = self._judge(run, failure, states, path, outcomes)
                if not (words and judge.own(words, world)):
                    judge.choose(tests)

        return search

    def _existing(self, words: Sequence[str]) -> str:
        world = self._session.world
        device = [] if world.device is DeviceType.CUDA else ["--world", world.device.value]
        command = ["pytest", *device, *(["--gpus", str(world.gpus)] if world.gpus else []), *words]
        return f"an existing test covers it: {shlex.join(command)}"

    def _candidates(self, failure: Failure, patch: Patch, seconds: float, reasons: Notes) -> Iterator[Candidate]:
        target = self._session.target
        yield from candidates(failure, patch.edits, target, reasons)
        yield from program(target, seconds, reasons)

    def _path(self, patch: Patch) -> str | None:
        """Return the path of a new test file that git does not ignore; None if there is none."""
        session, edited = self._session, patch.edits[0].path
        folder = self._home.place(edited)
        for name in self._home.names(edited):
            path = f"{folder}/{name}" if folder else name
            if name in self._taken or os.path.lexists(session.repository.root / path):
                continue
            return path if session.may_make(path) else None
        return None

    def _judge(
        self, run: TestRunner, failure: Failure, states: States, path: str, outcomes: Mapping[str, str]
    ) -> RegressionTestVerifier:
        # A test names devices of one kind, as the program does; other kinds run the program alone.
        home = self._session.world
        every = worlds_to_verify(home, self._session.gpus_seen)
        worlds = [world for world in every if world.kind == "cpu" or world.device is home.device]
        simulated = [world for world in worlds if world.kind == "simulated"]
        clean = [world for world in simulated if outcomes.get(world.name) == Outcome.CLEAN.value]
        return RegressionTestVerifier(run, failure, states, worlds, path, self._home, clean)
