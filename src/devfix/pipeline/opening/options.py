"""Options of a repair, from the command line or from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from devfix.config import Config
from devfix.model import Taking, Until, WorldChoice
from devfix.pipeline.opening.resource_options import ResourceOptions

TIMEOUT = 600.0  # seconds for one run of the program
MAX_FIXES = 10
OTHERS = 120.0  # seconds for the repository's other commands
_FOR_OTHERS = 0.2  # at most, of the budget of the whole repair


@dataclass(frozen=True)
class RepairOptions:
    """Options of a repair. None, empty and "auto" select the configured value, or else the default.

    `run` is the command that runs the program. `gpus` (default 1) is the size of the `world`. `timeout` (default 600)
    is the limit for one run, in seconds. `exclude` has patterns of files that are never edited. `take` says where
    verified fixes go: to a new `branch` (the default), to the working tree, or nowhere; with `dry_run` nowhere.
    `candidates` maps failures (1 is the first of the report) to the numbers of the verified candidates to keep for
    them, in place of the first. `commit` is where the repair starts, in place of HEAD. `rules` names folders of local
    rules, which are code and run in this process. `resources` limits what the program may use, and selects the sandbox.
    `until` says when a program is ended that does not end by itself. `device_map` runs the program twice more, to map
    the devices of its modules. `include_handled` also repairs device failures that the program catches. `test` adds a
    regression test for each fix, if the repository has tests that pytest runs. `others` (default 120) is the time in
    seconds for running the repository's other commands that reach a fix, each without and with it, and a fifth of the
    `budget` at most; 0 runs none.
    `partial` keeps verified fixes although a later failure has none: the outcome is then "partial".
    `budget` is the time for the whole repair, in seconds: BudgetSpentError is raised where it is over before a fix is
    verified for each failure, and later steps are left out with a note.
    `find_working_version` searches for a release without the fault if a dependency is at fault.
    """

    run: str | None = None
    world: WorldChoice = WorldChoice.AUTO
    gpus: int | None = None
    python: str | None = None
    exclude: Sequence[str] = ()
    timeout: float | None = None
    budget: float | None = None
    max_fixes: int | None = None
    branch: str | None = None
    commit: str | None = None
    dry_run: bool = False
    take: Taking = Taking.BRANCH
    candidates: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    rules: Sequence[str | Path] = ()
    find_working_version: bool = False
    test: bool = True
    others: float | None = None
    partial: bool = False
    include_handled: bool = False
    device_map: bool = False
    until: Until | None = None
    resources: ResourceOptions = field(default_factory=ResourceOptions)

    @property
    def taking(self) -> Taking:
        """The destination of the fixes."""
        return Taking.NONE if self.dry_run else self.take

    def world_in(self, config: Config) -> WorldChoice:
        """Return the selected or configured world."""
        return config.world or WorldChoice.AUTO if self.world is WorldChoice.AUTO else self.world

    def gpus_in(self, config: Config) -> int | None:
        """Return the selected or configured number of GPUs; None if there is none."""
        return self.gpus or config.gpus

    def timeout_in(self, config: Config) -> float:
        """Return the time limit for one run of the program, in seconds."""
        return self.timeout or config.timeout or TIMEOUT

    def max_fixes_in(self, config: Config) -> int:
        """Return the maximum number of fixes of a repair."""
        return self.max_fixes or config.max_fixes or MAX_FIXES

    def others_in(self, config: Config) -> float:
        """Return the budget for the repository's other commands that reach a fix, in seconds."""
        given = config.others if self.others is None else self.others
        most = OTHERS if given is None else given
        return most if self.budget is None else min(most, self.budget * _FOR_OTHERS)

    def tests_in(self, config: Config) -> bool:
        """Return whether fixes get regression tests."""
        return self.test and config.test is not False
