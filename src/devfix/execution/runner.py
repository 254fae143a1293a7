"""Run a target: start the program in a world and read the traces of the probe."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from devfix.errors import BudgetSpentError
from devfix.execution.outcome import read_run
from devfix.execution.prefork import PreforkError, PreforkServer, forked_words
from devfix.execution.probe_config import STEPS_MARK, environment_for, observed_command, probe_config
from devfix.execution.pytest_plugin import MARKED, PluginFolder, with_plugin
from devfix.execution.search_path import with_interpreter
from devfix.execution.slots import Slots, Speculation
from devfix.execution.standstill import StandstillWatch
from devfix.execution.unobserved import find_unobserved
from devfix.model import NO_COUNTS, CountRequest, Outcome, Run, SourceLocation, Target, World
from devfix.process import Completed, ResourceLimits, Sandbox, child_environment, run
from devfix.process.native import compile_for
from devfix.process.running import Cancellation, Hear
from devfix.process.tempdirs import temporary_folder
from devfix.progress import Progress
from devfix.trace import read_all


class Tree(Protocol):
    """A folder with the program's files, which the program may change."""

    @property
    def path(self) -> Path:
        """The path of the folder."""

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files, until the tree is returned to its pool."""


class WorktreePool(Protocol):
    """A pool of trees for several threads: the worktrees of a repository, or the folders of a rule's cases."""

    def take(self) -> Tree:
        """Wait for a free tree and return it in its initial state."""

    def give(self, tree: Any, /) -> None:
        """Return a tree to the pool, in whatever state it is."""


class TracedRunner:
    """Runs one target's program, each time in a clean worktree; may be called from several threads."""

    def __init__(
        self,
        target: Target,
        worktrees: WorktreePool,
        tracked: frozenset[str],
        warm: PreforkServer | None = None,
        read_only: Sequence[Path] = (),
        limits: ResourceLimits | None = None,
        sandboxed: Sequence[Path] | None = None,
        scratch: Path | None = None,
        include_handled: bool = False,
    ) -> None:
        """Run the program of `target`, which cannot write to the `read_only` paths, within `limits`.

        Where `sandboxed` is not None it runs in a sandbox, and these are what it needs to read.
        Traces and temporary files lie in a folder of their own below `scratch`, for each run. With `include_handled`
        a device failure that the program catches is a failure of the run.
        """
        self.include_handled = include_handled
        self.scripts = True  # TorchScript compiles; if not, it still does in fresh processes
        self.explained: frozenset[Outcome] = frozenset()  # how the program ends because of a failure that it catches
        self.idle_limit: float | None = None  # seconds, after which a run that stands still after a failure is ended
        self.scratch = scratch
        self.sandboxed = sandboxed
        self.limits = limits or ResourceLimits()
        self.target = target
        self.read_only = read_only
        self.worktrees = worktrees
        self.tracked = tracked
        self.warm = warm
        self.children: PreforkServer | None = None  # forks the Python programs that the program starts, if it is forked
        self.warm_tests: Callable[[], PreforkServer | None] | None = None  # returns the one that has imported pytest
        self.plugin: PluginFolder | None = None  # where pytest needs the plugin, and does not have this one
        self.progress: Progress | None = None
        self.slots: Slots | None = None  # how many runs take place at once, if that is limited
        self.deadline: float | None = None  # of `time.monotonic`; what runs then is ended, and nothing runs after it

    def run(
        self,
        world: World,
        files: Mapping[str, bytes] | None = None,
        *,
        watch: Sequence[SourceLocation] = (),
        fresh: bool = True,
        overlay: Path | None = None,
        device_map: bool = False,
        reach: CountRequest = NO_COUNTS,
        calls: bool = False,
        tests: str = MARKED,
        seed: int | None = None,
        totals: bool = True,
        ahead: Speculation | None = None,
    ) -> Run:
        """Run the program in `world` with `files` changed; where not `fresh`, in a warm process if one fits.

        `overlay` is a folder whose packages come before those that are installed. What operators do at
        `reach` is counted in `Run.visits`. `calls` records the calls on the failure's stack; `tests` is the option of
        devfix's pytest plugin (docs/reference/trace-format.md), which diagnoses nothing: the interpreter may lack what
        devfix needs for that. `seed` is for generators without a seed of the program.
        Without `totals` what operators compute is not summed, which takes less time. A run `ahead` waits for others,
        and may be cancelled: it then raises CancelledError, or is ended and says nothing of the program. Raises
        BudgetSpentError where the deadline has passed.
        """
        if world.kind == "simulated" and self.sandboxed is None:
            compile_for(str(self.target.python), child_environment)
        with self._tree(files or {}, ahead) as tree:
            shown = self.progress.running(world.name, not files) if self.progress else nullcontext()
            with (
                temporary_folder("traces", self.scratch) as traces,
                temporary_folder("temporary", self.scratch) as temporary,
                shown as line,
            ):
                recorded = (watch, device_map, reach, totals, seed, self.scripts or fresh)
                order = probe_config(world, traces, tree.path, self.target.root, *recorded)
                plugin = self.plugin.path if self.plugin is not None else None
                overlays = [folder for folder in (overlay, plugin) if folder is not None]
                environment = environment_for(world, {**order, "calls": calls, "tests": tests}, overlays=overlays)
                if self.plugin is not None and not self.plugin.is_known:
                    environment = with_plugin(environment)
                environment["PATH"] = with_interpreter(
                    environment.get("PATH", os.defpath), self.target.python, traces / "bin"
                )
                # What the program leaves there goes with it; torch alone leaves a cache in each new one.
                environment["TMPDIR"] = str(temporary)
                sandbox = self._sandbox(world, [tree.path, traces, temporary], overlays)
                mark = traces / STEPS_MARK if reach.steps else None
                hear = line.hear if line is not None else None
                cancelled = StandstillWatch(traces, lambda: self.idle_limit, ahead.cancelled if ahead else None)
                done = self._start(tree.path, environment, fresh, sandbox, mark, hear, cancelled)
                if done.timed_out:
                    self._seconds_left()
                read, problem = read_all(traces, tree.path, self.tracked)
                unseen = find_unobserved(done, traces)
            given = (self.target.command, done, read, problem, str(tree.path), unseen)
            return read_run(world, *given, include_handled=self.include_handled, explained=self.explained)

    @contextmanager
    def _tree(self, files: Mapping[str, bytes], ahead: Speculation | None) -> Iterator[Tree]:
        """Wait for a slot and hold a clean tree with some files changed in the block."""
        with self.slots.slot(ahead) if self.slots else nullcontext():
            tree = self.worktrees.take()
            try:
                tree.write(files)
                yield tree
            finally:
                self.worktrees.give(tree)

    def running(self, *words: str, timeout: float) -> TracedRunner:
        """Return an observer that runs the target's interpreter with other words, for at most `timeout` seconds."""
        other = copy(self)
        other.scripts = True
        limit = min(timeout, self.target.timeout)
        other.target = replace(self.target, command=(str(self.target.python), *words), timeout=limit, until=None)
        return other

    def _sandbox(self, world: World, writable: Sequence[Path], needed: Sequence[Path]) -> Sandbox | None:
        if self.sandboxed is None:
            return None
        # What is protected is laid over already: writing there is lost at the program's end, and so may be allowed.
        return Sandbox([*self.read_only, *writable], [*self.sandboxed, *needed], devices=world.kind == "real")

    def _start(
        self,
        tree: Path,
        environment: Mapping[str, str],
        fresh: bool,
        sandbox: Sandbox | None,
        mark: Path | None,
        hear: Hear | None,
        cancelled: Cancellation,
    ) -> Completed:
        cwd = tree / self.target.subfolder
        command, seconds = self.target.command, self._seconds_left()
        words = forked_words(command, self.target.python, tree, cwd)
        warm = None if fresh or words is None or self.target.until or self.read_only else self._server(words)
        if warm is not None and words is not None:
            try:
                return warm.run(words, cwd, environment, seconds, 0, hear, cancelled, self.children)
            except PreforkError:
                pass  # a fresh process says the same, later
        command = observed_command(command, environment)
        inside = sandbox.around(command, cwd) if sandbox is not None else command
        return run(
            inside,
            cwd,
            environment,
            seconds,
            self.limits,
            read_only=self.read_only,
            until=self.target.until,
            mark=mark,
            hear=hear,
            cancelled=cancelled,
        )

    def _seconds_left(self) -> float:
        """Return how long a run may take, in seconds. Raises BudgetSpentError where the deadline has passed."""
        if self.deadline is None:
            return self.target.timeout
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise BudgetSpentError("the budget is over")
        return min(self.target.timeout, left)

    def _server(self, words: Sequence[str]) -> PreforkServer | None:
        is_session = tuple(words[:2]) == ("-m", "pytest")
        return self.warm_tests() if is_session and self.warm_tests is not None else self.warm


def run_here(target: Target, device_map: bool = False) -> Run:
    """Run the target's program where it stands, its input and output passed through; every file there is owned."""
    if target.world.kind == "simulated":
        compile_for(str(target.python), child_environment)
    with temporary_folder("traces") as traces:
        order = probe_config(target.world, traces, target.root, target.root, device_map=device_map)
        cwd = target.root / target.subfolder
        environment = environment_for(target.world, order, os.environ)
        environment["PATH"] = with_interpreter(environment.get("PATH", os.defpath), target.python, traces / "bin")
        command = observed_command(target.command, environment)
        done = run(command, cwd, environment, target.timeout, through=True)
        read, problem = read_all(traces, target.root, None)
        unseen = find_unobserved(done, traces)
    seen = read_run(target.world, target.command, done, read, problem, "", unseen)
    return replace(seen, notes=(*seen.notes, *seen.caught))
