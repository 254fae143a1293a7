"""Add regression tests for fixes: each is verified to fail without its fix and to pass with it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread

from devfix.execution.device_matrix import worlds_to_verify
from devfix.model import DeviceType, Failure, Fix, RegressionTest, Repair, Run, World
from devfix.notebooks.notebook import is_notebook
from devfix.notes import Notes
from devfix.pipeline.opening.session import Session
from devfix.regression_tests import (
    LAUNCHER,
    Candidate,
    RegressionTestVerifier,
    TestLayout,
    candidates,
    find_home,
    launcher,
    own_words,
    program,
)

TIMEOUT = 60.0  # seconds for a run of one test


def add_regression_tests(session: Session, repairs: Sequence[Repair], seconds: float) -> list[Repair]:
    """Return the repairs, each fix with its test or the reason for having none; the program runs for `seconds`."""
    home = _home(session)
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


def _home(session: Session) -> TestLayout | None:
    """Return the layout of the repository's tests; None if fixes get none."""
    below = f"{session.target.subfolder}/" if session.target.subfolder else ""
    tracked = [path for path in session.observer.tracked if path.startswith(below) or "/" not in path]
    return find_home(tracked, session.target.subfolder, session.repository.content) if session.wants_tests else None


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
            yield self._with_test(repair, repair.fix, around, number, len(fixes), seconds)
            number += 1

    def _with_test(
        self,
        repair: Repair,
        fix: Fix,
        states: tuple[dict[str, bytes], dict[str, bytes], dict[str, bytes]],
        number: int,
        count: int,
        seconds: float,
    ) -> Repair:
        session, failure = self._session, repair.failure
        if all(is_notebook(edit.path) for edit in fix.patch.edits):
            return replace(repair, no_test_reason="its code is in a notebook, which no test can import")
        path = self._path(fix)
        if path is None:
            return replace(repair, no_test_reason="git ignores the tests' folder, or --exclude keeps it as it is")
        session.progress(f"writing a test for {Path(fix.patch.edits[0].path).name}")
        # A test names devices of one kind, as the program does; other kinds run the program alone.
        every = worlds_to_verify(session.world, session.gpus_seen)
        worlds = [world for world in every if world.kind == "cpu" or world.device is session.world.device]
        judge = RegressionTestVerifier(self.run, failure, states, worlds, path, self._home.typed)
        if failure.test and judge.own([failure.test], session.world):
            return replace(repair, no_test_reason=self._existing([failure.test]))
        reasons = Notes()
        kept = judge.choose(self._candidates(failure, fix, seconds, reasons))
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

    def _existing(self, words: Sequence[str]) -> str:
        world = self._session.world
        device = [] if world.device is DeviceType.CUDA else ["--world", world.device.value]
        command = ["pytest", *device, *(["--gpus", str(world.gpus)] if world.gpus else []), *words]
        return f"an existing test covers it: {shlex.join(command)}"

    def _candidates(self, failure: Failure, fix: Fix, seconds: float, reasons: Notes) -> Iterator[Candidate]:
        target = self._session.target
        yield from candidates(failure, fix.patch.edits, target, reasons)
        yield from program(target, seconds, reasons)

    def _path(self, fix: Fix) -> str | None:
        """Return the path of a new test file that git does not ignore; None if there is none."""
        session, edited = self._session, fix.patch.edits[0].path
        folder = self._home.place(edited)
        for name in self._home.names(edited):
            path = f"{folder}/{name}" if folder else name
            if name in self._taken or os.path.lexists(session.repository.root / path):
                continue
            return path if session.may_make(path) else None
        return None

    def run(self, world: World, files: Mapping[str, bytes], words: Sequence[str], held: bool) -> Run:
        """Run tests, given as paths from the root of the repository or as pytest ids, with plain pytest."""
        below = self._session.target.subfolder
        launched = f"{below}/{LAUNCHER}" if below else LAUNCHER
        inner = [word.removeprefix(f"{below}/") if below else word for word in words]
        server = self._session.test_server
        observer = server.observer().running(LAUNCHER, *inner, timeout=TIMEOUT)
        everything = {**files, launched: launcher()}
        return observer.run(world, everything, fresh=False, overlay=server.overlay, tests="held" if held else "marked")
