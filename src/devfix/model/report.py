"""What comes of a repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from devfix.model.failure import Failure
from devfix.model.obstacle import Obstacle
from devfix.model.patch import Diagnosis, Edit, Patch, Rejected, Verdict
from devfix.model.running import Outcome, Run
from devfix.model.world import GpusNeeded, World

ReportOutcome = Literal["repaired", "clean", "partial", "unrepaired", "not-yours", "error"]


@dataclass(frozen=True)
class OtherRun:
    """What another command of the repository did in a world before a fix and with it; `told` says it in a word."""

    command: str
    origin: str
    world: str
    before: str
    after: str
    comparison: Literal["as before", "better", "worse", "not mended"]


@dataclass(frozen=True)
class Others:
    """The other commands that reach the fixes: what they did, those that were left out and why, and the budget."""

    seconds: float
    ran: tuple[OtherRun, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Fix:
    """A patch that was tried, and its verdict; `neighbours` are edits for the same fault elsewhere, not applied."""

    patch: Patch
    verdict: Verdict
    diff: str
    similar_sites: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class RegressionTest:
    """A test that fails without a fix and passes with it: a new file of the repository.

    `drives` says in words what it runs. `worlds` maps world names to what the test did before the fix and after it;
    `since` is the index, among the fixes, of the one with which it passes: its own, or a later one of the chain.
    """

    path: str
    text: str
    exercises: str
    worlds: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    passes_after_fix: int = 0


@dataclass(frozen=True)
class Repair:
    """One failure, what was tried against it, and the fix that was kept (None when none held).

    `dropped` are the candidates that were run and not kept, `untried` those that were never run.
    `guard` is the test that guards the fix; where there is none, `unguarded` says why, or what guards it already.
    """

    failure: Failure
    diagnoses: tuple[Diagnosis, ...]
    fix: Fix | None
    rejected: tuple[Fix, ...] = ()
    regression_test: RegressionTest | None = None
    no_test_reason: str = ""
    untried: tuple[Rejected, ...] = ()


@dataclass(frozen=True)
class DependencyFault:
    """A fault in code that is not the user's: whose it is, where, why, and the change that made a copy of it run.

    `path` is relative to the folder of installed packages. `pin` is the newest release that runs clean ("" where none
    was looked for or found), `pin_edits` what asks for it in the repository's requirements; neither is applied.
    """

    distribution: str
    version: str
    path: str
    line: int
    reason: str
    diff: str
    pin: str = ""
    pin_edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Report:
    """The result of `devfix repair`; `outcome` is repaired, clean, partial, unrepaired, not-yours or error.

    "partial": fixes were kept, and a failure remains behind them.

    `others` tells of the other commands that reach the fixes.
    A program that is repaired may fail for a reason of its own behind the fixes: `last_run` tells, see `behind`.
    `subfolder` is the folder of the repository in which the command ran, "" for its top. `gpus_needed` is there where
    the program asked for more GPUs than it was given at first, `obstacle` where the last run shows what it misses here.
    """

    outcome: ReportOutcome
    world: World
    command: str
    root: str
    commit: str
    repairs: tuple[Repair, ...] = ()
    branch: str = ""
    commits: tuple[str, ...] = ()
    diff: str = ""
    seconds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    last_run: Run | None = None
    dependency_fault: DependencyFault | None = None
    subfolder: str = ""
    others: Others | None = None
    gpus_needed: GpusNeeded | None = None
    obstacle: Obstacle | None = None

    @property
    def behind(self) -> Run | None:
        """The last run of a repaired program that fails for a reason of its own, as it does without a GPU."""
        is_own = self.last_run is not None and self.last_run.outcome is Outcome.OTHER
        return self.last_run if self.outcome == "repaired" and is_own else None
