"""The state of one repair: the repository, its worktrees, the program, and what is known so far.

The packages that read source code are imported when they are first used, since the program runs by then.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import partial
from typing import TYPE_CHECKING

from devfix.config import Config
from devfix.discovery import Command
from devfix.errors import BudgetSpentError
from devfix.execution import SEED, TracedRunner
from devfix.execution.preloading import preload_branch
from devfix.execution.slots import Slots, Speculation
from devfix.execution.speculative_runs import SpeculativeRuns
from devfix.execution.test_server import TestServer
from devfix.model import NO_COUNTS, CountRequest, DeviceType, GpusNeeded, Outcome, Patch, Run, Target, World
from devfix.notes import Notes
from devfix.pipeline.opening.speculative_tests import SpeculativeTests
from devfix.progress import Progress, StepTimes
from devfix.verification.requests import Request
from devfix.workspace import Repository, Worktrees

if TYPE_CHECKING:
    from devfix.sdk import Sources

_TAKEN = os.strerror(errno.EADDRINUSE)
JOBS = 2  # runs at once, of a program of which nothing is known yet
Order = tuple[World, tuple[tuple[str, bytes], ...], bool, CountRequest]


@dataclass
class Session:
    """One repair in progress; `files` holds the contents of every file changed so far.

    `other_seconds` is the budget for running the repository's other commands that reach a fix.
    `wants_tests`: fixes get tests if the repository has some and its interpreter `has_pytest`.
    `has_fixed_gpus`: the user has set the number of GPUs. `gpus_needed` is set if the program asks for more.
    `claimed` are other kinds of accelerator that the repository supports, on which a fix is verified too.
    """

    repository: Repository
    config: Config
    worktrees: Worktrees
    observer: TracedRunner
    commands: tuple[Command, ...]
    gpus_seen: int
    progress: Progress
    test_server: TestServer
    command_text: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)
    seconds: StepTimes = field(default_factory=StepTimes)
    wants_tests: bool = False
    has_pytest: bool = False
    other_seconds: float = 0.0
    has_fixed_gpus: bool = False
    gpus_needed: GpusNeeded | None = None
    claimed: tuple[DeviceType, ...] = ()

    def __post_init__(self) -> None:
        """Let runs begin ahead, in the slots of the observer."""
        self.slots = self.observer.slots or Slots(JOBS)
        self.speculative_runs = SpeculativeRuns(self._start, self.slots)
        self.speculative_tests = SpeculativeTests(self.test_server, self.slots)

    def close(self) -> None:
        """End the runs that began ahead and that nobody has asked for."""
        self.speculative_tests.close()
        self.speculative_runs.close()

    @contextmanager
    def optional(self, step: str) -> Iterator[None]:
        """Leave the rest of a step out where the budget of the repair is over, with a note; `step` completes "before".

        What was verified before it is kept.
        """
        try:
            yield
        except BudgetSpentError:
            self.notes.add(f"the budget was over before {step}")

    @property
    def target(self) -> Target:
        """The program under repair."""
        return self.observer.target

    @property
    def writes_tests(self) -> bool:
        """True if fixes may get tests."""
        return self.wants_tests and self.has_pytest

    @property
    def world(self) -> World:
        """The world in which failures are looked for."""
        return self.target.world

    @property
    def steps(self) -> int:
        """The number of runs of an operator at the failing line that end a run; 0 if runs are not ended so."""
        return self.target.until.steps if self.target.until else 0

    def begin_first_run(self) -> None:
        """Begin the run that is asked for first, before what decides on it is imported."""
        self.expect([(self.world, {}, True, NO_COUNTS)])

    def run(self, world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest = NO_COUNTS) -> Run:
        """Run the program with `files` changed, or take such a run that has begun ahead."""
        return self._name_operands(self.speculative_runs.run(_order(world, files, fresh, reach)), files)

    def expect(self, requests: Sequence[Request]) -> None:
        """Begin runs that will be asked for; cancel those that were expected before and are not among them."""
        self.speculative_runs.expect([_order(*request) for request in requests])

    def _start(self, order: Order, ahead: Speculation | None) -> Run:
        world, files, fresh, reach = order
        was_single = self.slots.is_single
        run = self.observer.run(world, dict(files), fresh=fresh, reach=reach, ahead=ahead)
        if was_single or run.outcome is not Outcome.OTHER or _TAKEN not in run.stderr:
            return run
        self.slots.narrow()
        self.notes.add("the program needs a port that another run of it had taken: one run takes place at a time")
        return self.observer.run(world, dict(files), fresh=fresh, reach=reach)  # it has had its turn to begin ahead

    def preload(self, run: Run) -> None:
        """Let the warm process import what this run has imported of other packages."""
        if self.observer.warm is not None:
            folder = self.repository.root / self.repository.subfolder
            self.observer.warm = preload_branch(self.observer.warm, run.imported, folder)

    def run_seeded(self, world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest = NO_COUNTS) -> Run:
        """Run the program as `run` does with seeded random generators, so that two runs draw the same numbers."""
        run = self.observer.run(world, files, fresh=fresh, reach=reach, seed=SEED)
        return self._name_operands(run, files)

    def _name_operands(self, run: Run, files: Mapping[str, bytes]) -> Run:
        """Return the run with operator-internal temporaries of its failure replaced by the tensors they came from."""
        if run.failure is None:
            return run
        from devfix.diagnosis.resolve_temporaries import resolve_temporaries
        from devfix.sdk import Sources

        failure = resolve_temporaries(run.failure, Sources(partial(self.read, files)))
        return replace(run, failure=replace(failure, claimed=self.claimed))

    def sources(self) -> Sources:
        """Return the editable files in their current state."""
        from devfix.sdk import Sources

        return Sources(self.content, self.repository.containing, self.notes)

    def content(self, path: str) -> bytes | None:
        """Return the current contents of a file; None if it must not be edited."""
        return self.read(self.files, path)

    def read(self, files: Mapping[str, bytes], path: str) -> bytes | None:
        """Return the contents of a file after the changes in `files`; None if it must not be edited."""
        if path not in self.observer.tracked or any(fnmatch(path, glob) for glob in self.target.exclude):
            return None
        return files[path] if path in files else self.repository.content(path)

    def may_make(self, path: str) -> bool:
        """Return whether a new file may be created at a path: neither git nor --exclude excludes it."""
        excluded = any(fnmatch(path, glob) for glob in self.target.exclude)
        return not excluded and not self.repository.ignores(path)

    def diff(self) -> str:
        """Return all changes so far as a git diff."""
        first = {path: self.repository.content(path) for path in self.files}
        return self.worktrees.diff(first, self.files) if self.files else ""

    def diff_of(self, patch: Patch) -> str:
        """Return the edits of one patch as a git diff."""
        before = {edit.path: edit.before for edit in patch.edits}
        return self.worktrees.diff(before, {edit.path: edit.after for edit in patch.edits})

    def move_to(self, world: World) -> None:
        """Look for failures in another world from now on."""
        self.observer.target = replace(self.target, world=world)


def _order(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Order:
    """Return what a run is asked for with, as a key."""
    return world, tuple(sorted(files.items())), fresh, reach
