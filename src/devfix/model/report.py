"""What comes of a repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from devfix.model.failure import Failure
from devfix.model.patch import Diagnosis, Edit, Patch, Verdict
from devfix.model.running import Run
from devfix.model.world import World


@dataclass(frozen=True)
class Fix:
    """A patch that was tried, and its verdict; `neighbours` are edits for the same fault elsewhere, not applied."""

    patch: Patch
    verdict: Verdict
    diff: str
    neighbours: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Guard:
    """A test that fails without a fix and passes with it: a new file of the repository.

    `drives` says in words what it runs. `worlds` maps world names to what the test did before the fix and after it;
    `since` is the index, among the fixes, of the one with which it passes: its own, or a later one of the chain.
    """

    path: str
    text: str
    drives: str
    worlds: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    since: int = 0


@dataclass(frozen=True)
class Repair:
    """One failure, what was tried against it, and the fix that was kept (None when none held).

    `guard` is the test that guards the fix; where there is none, `unguarded` says why, or what guards it already.
    """

    failure: Failure
    diagnoses: tuple[Diagnosis, ...]
    fix: Fix | None
    dropped: tuple[Fix, ...] = ()
    guard: Guard | None = None
    unguarded: str = ""


@dataclass(frozen=True)
class Foreign:
    """A fault in code that is not the user's: whose it is, where, why, and the change that made a copy of it run.

    `path` is relative to the folder of installed packages. `pin` is the newest release that runs clean ("" where none
    was looked for or found), `pin_edits` what asks for it in the repository's requirements; neither is applied.
    """

    distribution: str
    version: str
    path: str
    line: int
    because: str
    diff: str
    pin: str = ""
    pin_edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Report:
    """The result of `devfix repair`; `outcome` is repaired, clean, unrepaired, not-yours or error.

    `subfolder` is the folder of the repository in which the command ran, "" for its top.
    """

    outcome: str
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
    foreign: Foreign | None = None
    subfolder: str = ""
