"""Target -> runs: start the program in a world and read what the probe tells."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from devfix.letter import Letter, read_all
from devfix.model import Failure, Outcome, Place, Run, Target, Transfer, World
from devfix.process import Completed, child_environment, run
from devfix.warm import Warm, WarmError
from devfix.worktrees import Worktrees

ENTRY = Path(__file__).resolve().parent.parent / "probe" / "entry"


class Observer:
    """Runs one target's program, each time in a clean worktree; safe to call from several threads."""

    def __init__(self, target: Target, worktrees: Worktrees, tracked: frozenset[str], warm: Warm | None = None) -> None:
        self.target = target
        self.worktrees = worktrees
        self.tracked = tracked
        self.warm = warm

    def run(
        self,
        world: World,
        files: Mapping[str, bytes] | None = None,
        *,
        watch: Sequence[Place] = (),
        fresh: bool = True,
        device_map: bool = False,
    ) -> Run:
        """Run the program in `world` with `files` in place of the commit's; not `fresh`: in a warm process if one fits."""
        tree = self.worktrees.take()
        try:
            tree.write(files or {})
            with tempfile.TemporaryDirectory(prefix=f"devfix-letters-{os.getpid()}-") as letters:
                order = {
                    "world": {"kind": world.kind, "gpus": world.gpus, "current": world.current},
                    "letters": letters,
                    "owned": str(tree.path),
                    "original": str(self.target.root),
                    "watch": [{"path": str(tree.path / place.path), "line": place.line} for place in watch],
                    "map": device_map,
                }
                done = self._start(tree.path, world, order, fresh)
                read, trouble = read_all(Path(letters), tree.path, self.tracked)
            return _told(world, self.target.command, done, read, trouble, str(tree.path))
        finally:
            self.worktrees.give(tree)

    def _start(self, tree: Path, world: World, order: Mapping[str, object], fresh: bool) -> Completed:
        environment = dict(child_environment())
        environment["DEVFIX_PROBE"] = json.dumps(order)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ENTRY), environment.get("PYTHONPATH"))))
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        if world.kind != "real":
            environment["CUDA_VISIBLE_DEVICES"] = ""
        cwd = tree / self.target.subfolder
        command = self.target.command
        script = self._script(tree, cwd)
        if not fresh and self.warm is not None and script is not None:
            try:
                return self.warm.run(script, command[2:], cwd, environment, self.target.timeout)
            except WarmError:
                pass  # a fresh process says the same, later
        return run(command, cwd, environment, self.target.timeout)

    def _script(self, tree: Path, cwd: Path) -> Path | None:
        command = self.target.command
        if len(command) < 2 or command[0] != str(self.target.python) or not command[1].endswith(".py"):
            return None
        script = cwd / command[1]
        return Path(command[1]) if script.is_file() and script.resolve().is_relative_to(tree.resolve()) else None


def _told(
    world: World, command: tuple[str, ...], done: Completed, letters: list[Letter], trouble: list[str], tree: str
) -> Run:
    failure, loud = _failure(letters)
    outcome = _outcome(done, failure, loud)
    return Run(
        world=world,
        command=command,
        outcome=outcome,
        exit_code=done.exit_code,
        seconds=done.seconds,
        # Each run has a worktree of its own, so its name would make equal outputs differ.
        stdout=done.stdout.replace(tree, "."),
        stderr=done.stderr.replace(tree, "."),
        failure=failure if outcome in (Outcome.FAILED, Outcome.OTHER) else None,
        transfers=_sum(letters),
        watched=tuple(item for letter in letters for item in letter.watched),
        modules=tuple(item for letter in letters for item in letter.modules),
        torch=next((letter.torch for letter in letters if letter.torch), ""),
        signal=done.signal,
        trouble=(*trouble, *(note for letter in letters for note in letter.trouble), *filter(None, [done.trouble])),
    )


def _outcome(done: Completed, failure: Failure | None, loud: bool) -> Outcome:
    if done.timed_out:
        return Outcome.TIMEOUT
    if done.trouble and done.exit_code is None and not done.signal:
        return Outcome.NOT_STARTED
    if done.signal:
        return Outcome.SIGNAL
    if failure is not None and failure.kind != "other" and (loud or done.exit_code != 0):
        return Outcome.FAILED
    return Outcome.CLEAN if done.exit_code == 0 else Outcome.OTHER


def _failure(letters: list[Letter]) -> tuple[Failure | None, bool]:
    """The failure that explains the run, and whether it was loud: nobody caught it.

    An uncaught device failure explains more than any other exception, since a parent often dies of its child's; one
    that was caught explains a failing run only where no other exception does.
    """
    told = [(letter.failure, letter.uncaught, letter.pid) for letter in letters if letter.failure is not None]
    order = sorted(told, key=lambda each: (not (each[1] and each[0].kind != "other"), not each[1], each[2]))
    return (order[0][0], order[0][1]) if order else (None, False)


def _sum(letters: list[Letter]) -> tuple[Transfer, ...]:
    totals: dict[tuple[Place, str], Transfer] = {}
    for letter in letters:
        for each in letter.transfers:
            known = totals.get((each.place, each.direction))
            count, size = (known.count, known.bytes) if known else (0, 0)
            totals[each.place, each.direction] = replace(each, count=each.count + count, bytes=each.bytes + size)
    return tuple(totals.values())
