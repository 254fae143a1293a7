"""The result of a repair, and where its fixes go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Literal

from devfix.model.failure import Failure
from devfix.model.obstacle import Obstacle
from devfix.model.patch import Diagnosis, Edit, Patch, Rejected, RuleDecision, Verdict
from devfix.model.running import Outcome, Run
from devfix.model.until import Until
from devfix.model.world import GpusNeeded, World


class Taking(str, Enum):
    """The destination of verified fixes: commits on a new branch, the files of the working tree, or nowhere."""

    BRANCH = "branch"
    APPLY = "apply"
    NONE = "none"


ReportOutcome = Literal["repaired", "clean", "partial", "unrepaired", "dependency-fault", "error"]
Comparison = Literal["as before", "better", "worse", "not fixed"]


@dataclass(frozen=True)
class OtherRun:
    """The runs of another command of the repository in a world, before and with a fix; `comparison` is the effect."""

    command: str
    origin: str
    world: str
    before: Outcome
    after: Outcome
    comparison: Comparison


@dataclass(frozen=True)
class Others:
    """The other commands that reach the fixes: their runs, those left out with the reasons, and the time budget."""

    seconds: float
    ran: tuple[OtherRun, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Fix:
    """A patch that was run, and its verdict; `similar_sites` are edits for the same fault elsewhere, not applied."""

    patch: Patch
    verdict: Verdict
    diff: str
    similar_sites: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class RegressionTest:
    """A test that fails without a fix and passes with it: a new file of the repository.

    `exercises` describes what it runs. `worlds` maps world names to the test's result before the fix and after it;
    `passes_after_fix` is the index, among the fixes, of the one with which it passes: its own, or a later one of the
    chain.
    """

    path: str
    text: str
    exercises: str
    worlds: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    passes_after_fix: int = 0


@dataclass(frozen=True)
class Repair:
    """One failure, its candidates, and the fix that was kept (None if none was verified).

    `rejected` are the candidates that were run and not kept, `untried` those that were never run. `regression_test` is
    the test of the fix; if there is none, `no_test_reason` says why, or names an existing test that covers it.
    `decisions` has every rule that was asked: those that blamed in the order of their precedence, then the others.
    """

    failure: Failure
    diagnoses: tuple[Diagnosis, ...]
    fix: Fix | None
    rejected: tuple[Fix, ...] = ()
    regression_test: RegressionTest | None = None
    no_test_reason: str = ""
    untried: tuple[Rejected, ...] = ()
    decisions: tuple[RuleDecision, ...] = ()


@dataclass(frozen=True)
class DependencyFault:
    """A fault in an installed distribution: location, reason, and the change with which a copy of it runs.

    `path` is relative to the folder of installed packages. `pin` is the newest release that runs clean ("" if none was
    searched for or found), `pin_edits` the edits that require it; neither is applied.
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
    """The result of `devfix repair`.

    `outcome` is repaired, clean, partial (fixes were kept, and a later failure remains), unrepaired, dependency-fault
    or error. `others` has the runs of other commands that reach the fixes. A repaired program may still fail for a
    reason unrelated to devices, see `remaining_failure`. `applied` are the files of the working tree to which the fixes
    were written; `not_applied` says why there are none, if that was requested. `subfolder` is the folder of the
    repository in which the command ran, "" for its root. `gpus_needed` is set if the program asked for more GPUs than
    it had at first, `obstacle` if the last run shows what it lacks on this machine. `mapped` are runs with a device
    map: one without the fixes and, if there are some, one with them. `until` says when the program was ended.
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
    applied: tuple[str, ...] = ()
    not_applied: str = ""
    mapped: tuple[Run, ...] = ()
    until: Until | None = None

    @property
    def remaining_failure(self) -> Run | None:
        """The last run of a repaired program, if that fails for a reason unrelated to devices."""
        is_own = self.last_run is not None and self.last_run.outcome is Outcome.OTHER
        return self.last_run if self.outcome == "repaired" and is_own else None
