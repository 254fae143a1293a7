"""Select a regression test: the first that fails without the fix as the program did, and passes with it.

The caller passes the function that runs one test, so this package is independent of processes and worktrees.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from devfix.execution.pytest_runner import WROTE
from devfix.model import Failure, Outcome, Run, World
from devfix.regression_tests.candidates import Candidate
from devfix.regression_tests.layout import TestLayout
from devfix.regression_tests.render import LINES, text_of

# Arguments: world, changed files, pytest arguments, and whether the test's own marker must not change the world.
Runner = Callable[[World, Mapping[str, bytes], Sequence[str], bool], Run]
TRIES = 5  # candidates to run for one fix
LONG = 30.0  # maximum seconds of a test, on a machine that may be busy
SECONDS = 30.0  # no further candidate is started after this time
PLAIN = World("cpu")  # a machine without GPUs, on which the test's marker simulates them
_NOT_FOUND = re.compile(r"ModuleNotFoundError: No module named|ImportError: (?:cannot import name|attempted relative)")


@dataclass(frozen=True)
class VerifiedTest:
    """A verified test: its text, and its result in each world before and after the fix.

    `since` is the state with which it passes: 0 for the fix itself, 1 for all fixes.
    """

    candidate: Candidate
    text: str
    worlds: Mapping[str, tuple[str, str]]
    since: int


class RegressionTestVerifier:
    """Verifies the candidates for one fix.

    `states` are the changed files without the fix, with it, and with every fix of the repair. The first of `worlds` is
    the one that failed. `clean` are simulated ones in which the program itself ran clean with every fix.
    """

    def __init__(
        self,
        run: Runner,
        failure: Failure,
        states: tuple[Mapping[str, bytes], Mapping[str, bytes], Mapping[str, bytes]],
        worlds: Sequence[World],
        path: str,
        layout: TestLayout,
        clean: Collection[World] = (),
    ) -> None:
        self.run, self.failure, self.path, self.layout = run, failure, path, layout
        self.before, self.after, self.last = states
        self.gpus, self.device = worlds[0].gpus, worlds[0].device
        self.worlds = [world for world in worlds if world.kind != "cpu"]
        self.clean, self.on_path = clean, False  # whether tests add the folder of their imports to Python's path
        self.why = ""
        self._began = time.monotonic()
        self._tries = 0

    def choose(self, candidates: Iterable[Candidate]) -> VerifiedTest | None:
        """Return the first candidate that is verified; None if there is none, and then `why` has the reason."""
        for candidate in candidates:
            if self._tries >= TRIES or time.monotonic() - self._began > SECONDS:
                break
            if kept := self._try_candidate(candidate):
                return kept
        return None

    def own(self, words: Sequence[str], home: World) -> bool:
        """Return whether an existing test fails without the fix and passes with it, in the world `home`.

        `words` are the pytest arguments that run it.
        """
        if not self._is_same(self.run(home, self.before, words, False)):
            return False
        return self.run(home, self.last, words, False).outcome is Outcome.CLEAN

    def _try_candidate(self, candidate: Candidate) -> VerifiedTest | None:
        self._tries += 1
        self.on_path = self.on_path or self.layout.cannot_import(candidate.body.root, self.path)
        text = self._text(candidate)
        if text.count("\n") > LINES:
            self.why = f"a test that {candidate.drives} would be long"
            return None
        first, then = self._pair(text)
        if not self.on_path and _NOT_FOUND.search(first.stdout + first.stderr):
            self.on_path = True
            text = self._text(candidate)
            first, then = self._pair(text)
        if first.outcome is Outcome.CLEAN and candidate.gpus < self.gpus:
            candidate = replace(candidate, gpus=self.gpus)
            text = self._text(candidate)
            first, then = self._pair(text)
        if not self._is_same(first):
            self.why = f"a test that {candidate.drives} {_did(first)} without the fix"
            return None
        for since, files in enumerate((self.after, self.last)):
            if since:
                then = self._run(PLAIN, files, text, False)
            if then.outcome is Outcome.CLEAN and then.seconds > LONG:
                self.why = f"a test that {candidate.drives} would run for {then.seconds:.0f} s"
                return None
            if then.outcome is Outcome.CLEAN:
                return self._elsewhere(candidate, text, files, since, (first, then))
            if self.after == self.last:
                break
        self.why = f"a test that {candidate.drives} {_did(then)} with the fix too"
        return None

    def _elsewhere(
        self, candidate: Candidate, text: str, files: Mapping[str, bytes], since: int, plain: tuple[Run, Run]
    ) -> VerifiedTest | None:
        """Verify a test in the other worlds, after it was verified on a machine without GPUs."""
        found = {PLAIN.name: (plain[0].outcome.value, plain[1].outcome.value)}
        # A test that starts the program shows what the program itself showed: six runs of the whole program saved, more
        # than half of the time of a repair with such a test.
        worlds = [world for world in self.worlds if not (candidate.starts_program and world in self.clean)]
        with ThreadPoolExecutor(2) as pool:
            # A test that needs two GPUs gets them from its marker if the world has fewer.
            held = {world: world.gpus >= candidate.gpus for world in worlds}
            before = {world: pool.submit(self._run, world, self.before, text, held[world]) for world in worlds}
            after = {world: pool.submit(self._run, world, files, text, held[world]) for world in worlds}
            for world in worlds:
                old, new = before[world].result(), after[world].result()
                found[world.name] = (old.outcome.value, new.outcome.value)
                if not self._is_same(old) and old.outcome is not Outcome.CLEAN:
                    self.why = self.why or f"a test that {candidate.drives} {_did(old)} on {world.name} without the fix"
                elif new.outcome is not Outcome.CLEAN:
                    self.why = self.why or f"a test that {candidate.drives} {_did(new)} on {world.name} with the fix"
                else:
                    continue
                return None
        return VerifiedTest(candidate, text, found, since)

    def _text(self, candidate: Candidate) -> str:
        return text_of(
            candidate.body, self.failure, candidate.gpus, self.path, self.layout.typed, self.on_path, self.device
        )

    def _pair(self, text: str) -> tuple[Run, Run]:
        """Run a test without the fix and with it, at once, on a machine without GPUs."""
        with ThreadPoolExecutor(2) as pool:
            before, after = (pool.submit(self._run, PLAIN, files, text, False) for files in (self.before, self.after))
            return before.result(), after.result()

    def _run(self, world: World, files: Mapping[str, bytes], text: str, held: bool) -> Run:
        return self.run(world, {**files, self.path: text.encode()}, [self.path], held)

    def _is_same(self, run: Run) -> bool:
        """Return whether a run fails as the program did: same kind, operator, exception and location."""
        found, known = run.failure, self.failure
        if run.outcome is not Outcome.FAILED or found is None or found.at is None or known.at is None:
            return False
        place = (found.at.path, found.at.line) == (known.at.path, known.at.line)
        return place and (found.kind, found.op, found.exception) == (known.kind, known.op, known.exception)


def _did(run: Run) -> str:
    """Return a description of what a test did."""
    if run.outcome is Outcome.CLEAN:
        return "passes"
    if run.outcome is Outcome.FAILED and run.failure is not None:
        at = run.failure.at
        return f"fails otherwise{f', at {at.shown},' if at else ''}"
    lines = [line for line in (run.stdout + run.stderr).splitlines() if line.startswith((WROTE, "E  "))]
    if lines and lines[-1].startswith(WROTE):
        return f"leaves files behind ({lines[-1].removeprefix(WROTE)[:80]})"
    return f"{run.outcome.value}{f' ({lines[-1][1:].strip()[:120]})' if lines else ''}"
