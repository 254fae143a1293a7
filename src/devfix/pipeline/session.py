"""What a repair needs at hand: the repository, its worktrees, the program, and everything learnt so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import partial

from devfix.config import Config
from devfix.model import NOWHERE, Outcome, Reach, Run, Target, World
from devfix.sdk import Sources
from devfix.sdk.standing import with_given
from devfix.stages.discover import Command
from devfix.stages.observe import Observer
from devfix.workspace import Repository, Worktrees


@dataclass
class Session:
    """One repair in progress; `files` holds the contents of every file changed so far.

    `wants_tests`: fixes get tests, where the repository turns out to have some, and its interpreter `has_pytest`.
    """

    repository: Repository
    config: Config
    worktrees: Worktrees
    observer: Observer
    commands: tuple[Command, ...]
    gpus_seen: int
    progress: Callable[[str], None]
    command_text: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    wants_tests: bool = False
    has_pytest: bool = False

    @property
    def target(self) -> Target:
        """The program under repair."""
        return self.observer.target

    @property
    def writes_tests(self) -> bool:
        """Whether fixes may get tests."""
        return self.wants_tests and self.has_pytest

    @property
    def world(self) -> World:
        """The world in which failures are looked for."""
        return self.target.world

    def run(self, world: World, files: Mapping[str, bytes], fresh: bool, reach: Reach = NOWHERE) -> Run:
        """Run the program with `files` changed: what `verify` is handed."""
        return self._named(self.observer.run(world, files, fresh=fresh, reach=reach), files)

    def _named(self, run: Run, files: Mapping[str, bytes]) -> Run:
        """The run with a failure that speaks of what the repository handed over."""
        if run.failure is None:
            return run
        return replace(run, failure=with_given(run.failure, Sources(partial(self.read, files))))

    def sources(self) -> Sources:
        """The editable files as they stand now."""
        return Sources(self.content)

    def content(self, path: str) -> bytes | None:
        """A file as it stands now; None where it must not be edited."""
        return self.read(self.files, path)

    def read(self, files: Mapping[str, bytes], path: str) -> bytes | None:
        """A file's contents where `files` has changed some; None where it must not be edited."""
        if path not in self.observer.tracked or any(fnmatch(path, glob) for glob in self.target.exclude):
            return None
        return files[path] if path in files else self.repository.content(path)

    def may_make(self, path: str) -> bool:
        """Say whether a new file may come into the repository: neither git nor --exclude leaves it out."""
        excluded = any(fnmatch(path, glob) for glob in self.target.exclude)
        return not excluded and not self.repository.git.says("check-ignore", "--no-index", path)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the wall time of a step, in seconds, to `seconds`."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.seconds[step] = round(self.seconds.get(step, 0.0) + time.monotonic() - began, 3)

    def diff(self) -> str:
        """Every change so far as git prints it."""
        first = {path: self.repository.content(path) for path in self.files}
        return self.worktrees.diff(first, self.files) if self.files else ""

    def first_run(self) -> Run:
        """Run the commands, cheapest first, until one fails on a device; the target is that command from then on."""
        runs = []
        for command in self.commands:
            self.observer.target = replace(self.target, command=command.words)
            self.command_text = command.shown
            self.progress(f"running {command.shown} on {self.world.name}")
            run = self._named(self.observer.run(self.world), {})
            runs.append(run)
            if len(self.commands) > 1:
                self.notes.append(f"tried `{command.shown}` ({command.origin}): {run.outcome.value}")
            if run.outcome is Outcome.FAILED:
                return run
        # Of several commands that do not fail on a device, one that runs says more than one that lacks an argument.
        best = next((index for index, run in enumerate(runs) if run.outcome is Outcome.CLEAN), 0)
        self.command_text = self.commands[best].shown
        return runs[best]
