"""Run the repository's other commands that reach a patch, without it and with it, within a time budget."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from functools import partial

from devfix.discovery import Command, reaching
from devfix.errors import BudgetSpentError
from devfix.execution import SEED
from devfix.model import NO_COUNTS, CountRequest, Failure, OtherRun, Others, Outcome, Patch, Run, World
from devfix.pipeline.opening.session import Session
from devfix.verification.checks.newly_trained import training_request
from devfix.verification.evidence import Objection
from devfix.verification.other_commands.compare import compare_runs

CPU = World("cpu")
_SHARE = 0.5  # of the time that is left, for a command with others behind it
State = tuple[tuple[str, bytes], ...]


class OtherCommands:
    """Judges patches by the other commands of one repository."""

    def __init__(self, session: Session, seconds: float) -> None:
        """Run commands of the session's repository for at most `seconds` in all."""
        self.session, self.seconds = session, seconds
        self._spent = 0.0
        self._known: dict[tuple[tuple[str, ...], World, State], Run] = {}
        self._ran: dict[Patch, dict[tuple[str, str], OtherRun]] = {}
        self._left_out: dict[str, str] = {}

    def summary(self, patches: Sequence[Patch]) -> Others | None:
        """Return what ran with some patches, the last patch first, and what was left out; None if there is nothing.

        Without patches, return what ran with any patch.
        """
        ran: dict[tuple[str, str], OtherRun] = {}
        for patch in patches or self._ran:
            ran |= self._ran.get(patch, {})
        return (
            Others(self.seconds, tuple(ran.values()), tuple(self._left_out.items())) if ran or self._left_out else None
        )

    def objections(self, patch: Patch, files: Mapping[str, bytes], failure: Failure) -> Iterator[Objection]:
        """Yield what gets worse with a patch, and what it should fix and does not."""
        commands = list(self._commands(patch))
        if commands and self.seconds > 0:
            subject = (
                "1 other command that reaches" if len(commands) == 1 else f"{len(commands)} other commands that reach"
            )
            self.session.progress(f"running {subject} the patch")
        for command in commands:
            share = 1.0 if command is commands[-1] else _SHARE
            for world in dict.fromkeys((CPU, self.session.world)):
                try:
                    pair = self._pair(command, world, files, share)
                    if pair is None:
                        break
                    before, after = pair
                    again = partial(self._again, command, patch, world, files)
                    effect, how = compare_runs(before, after, failure, patch.edits, again)
                except BudgetSpentError:
                    self._left_out[command.shown] = "the budget of the repair was spent"
                    return
                where = f"on {world.name}" if world != CPU else "without a GPU"
                self._ran.setdefault(patch, {})[command.shown, world.name] = OtherRun(
                    command.shown, command.origin, world.name, before.outcome, after.outcome, effect
                )
                if effect == "worse":
                    yield Objection("strong", f"`{command.shown}` {where} {how}")
                elif effect == "not fixed":
                    yield Objection("weak", f"`{command.shown}` {where} {how}")
                if effect == "as before" and _lacks_something(before):
                    break  # in every world

    def _commands(self, patch: Patch) -> Iterator[Command]:
        """Yield the commands that reach an edited file, except the one under repair."""
        target, below = self.session.target, self.session.target.subfolder
        prefix = f"{below}/" if below else ""
        tracked = frozenset(
            path.removeprefix(prefix) for path in self.session.observer.tracked if path.startswith(prefix)
        )
        edited = frozenset(edit.path.removeprefix(prefix) for edit in patch.edits)
        for command in reaching(target.root / below, tracked, target.python, edited):
            if command.words != target.command and not _runs_the_same(command.words, target.command):
                yield command

    def _pair(self, command: Command, world: World, files: Mapping[str, bytes], share: float) -> tuple[Run, Run] | None:
        """Return a command's runs without and with a patch, in a share of the time left; None if it is left out."""
        if self._spent >= self.seconds or command.shown in self._left_out:
            why = f"the budget of {self.seconds:g} s was spent" if self.seconds else "as asked, none are run"
            self._left_out.setdefault(command.shown, why)
            return None
        with ThreadPoolExecutor(2) as pool:
            runs = [pool.submit(self._run, command, world, each, share) for each in (self.session.files, files)]
            before, after = (run.result() for run in runs)
        if before.outcome in (Outcome.TIMEOUT, Outcome.NOT_STARTED) or after.outcome is Outcome.TIMEOUT:
            late = Outcome.TIMEOUT in (before.outcome, after.outcome)
            left = (
                f"what was left of {self.seconds:g} s" if share == 1 else f"half of what was left of {self.seconds:g} s"
            )
            why = f"it takes longer than {left}" if late else "it does not start"
            self._left_out[command.shown] = why
            return None
        return before, after

    def _again(self, command: Command, patch: Patch, world: World, files: Mapping[str, bytes]) -> tuple[Run, Run]:
        reach = training_request(patch.edits)
        plain = self._once(command, world, self.session.files, SEED, reach=reach)
        return plain, self._once(command, world, files, SEED)

    def _run(self, command: Command, world: World, files: Mapping[str, bytes], share: float) -> Run:
        key = (command.words, world, tuple(sorted(files.items())))
        if key not in self._known:
            self._known[key] = self._once(command, world, files, None, share)
        return self._known[key]

    def _once(
        self,
        command: Command,
        world: World,
        files: Mapping[str, bytes],
        seed: int | None,
        share: float = 1.0,
        reach: CountRequest = NO_COUNTS,
    ) -> Run:
        observer = copy(self.session.observer)
        observer.scripts = True
        left = max(5.0, share * (self.seconds - self._spent))
        limit = min(left, observer.target.timeout)
        observer.target = replace(observer.target, command=command.words, timeout=limit, until=None)
        began = time.monotonic()
        try:
            return observer.run(world, files, fresh=False, reach=reach, seed=seed)
        finally:
            self._spent += (time.monotonic() - began) / 2  # two run at once


def _lacks_something(run: Run) -> bool:
    """Return whether a run ended since something is not there on this machine, such as a package."""
    exception = run.failure.exception if run.outcome is Outcome.OTHER and run.failure is not None else ""
    return run.obstacle is not None or exception in ("ModuleNotFoundError", "ImportError")


def _runs_the_same(words: Sequence[str], command: Sequence[str]) -> bool:
    """Return whether both run the same script or module, with the same arguments as far as both have some."""
    return len(words) > 1 and tuple(command[: len(words)]) == tuple(words)
