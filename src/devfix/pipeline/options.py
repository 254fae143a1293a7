"""What a person asks of a repair, from the command line or from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from devfix.config import Config
from devfix.model import WorldChoice
from devfix.pipeline.resource_options import ResourceOptions

TIMEOUT = 600.0  # seconds for one run of the program
MAX_FIXES = 10
OTHERS = 120.0  # seconds for the repository's other commands


@dataclass(frozen=True)
class RepairOptions:
    """What a repair is asked for; None, empty and "auto" mean: as configured, else the default.

    `run` is the command that runs the program. `gpus` (default 1) is the size of the `world`, `timeout` (default 600)
    counts seconds for one run. `exclude` has patterns of files that are never edited. `dry_run` leaves no `branch`.
    `commit` is where the repair starts, in place of HEAD.
    `rules` names folders of local rules, which are code and run in this process. `resources` says what the program may
    take of the machine, and whether it runs in a sandbox. `include_handled` repairs device failures that the program
    catches, too. `test` writes a regression test for each fix, where the repository has tests that pytest runs.
    `others` (default 120) counts seconds for the repository's other commands that reach a fix, each run before and with
    it; 0 runs none. `partial` keeps proven fixes where a failure behind them has none: the outcome is then "partial".
    `find_working_version` searches for a release of a dependency at fault that works.
    """

    run: str | None = None
    world: WorldChoice = WorldChoice.AUTO
    gpus: int | None = None
    python: str | None = None
    exclude: Sequence[str] = ()
    timeout: float | None = None
    max_fixes: int | None = None
    branch: str | None = None
    commit: str | None = None
    dry_run: bool = False
    rules: Sequence[str | Path] = ()
    find_working_version: bool = False
    test: bool = True
    others: float | None = None
    partial: bool = False
    include_handled: bool = False
    resources: ResourceOptions = field(default_factory=ResourceOptions)

    def world_in(self, config: Config) -> WorldChoice:
        """Return the world that is asked for, here or in the configuration."""
        return config.world or WorldChoice.AUTO if self.world is WorldChoice.AUTO else self.world

    def gpus_in(self, config: Config) -> int | None:
        """Return how many GPUs a person has asked for, None where nobody has."""
        return self.gpus or config.gpus

    def timeout_in(self, config: Config) -> float:
        """Return how many seconds one run of the program may take."""
        return self.timeout or config.timeout or TIMEOUT

    def max_fixes_in(self, config: Config) -> int:
        """Return after how many fixes a repair stops."""
        return self.max_fixes or config.max_fixes or MAX_FIXES

    def others_in(self, config: Config) -> float:
        """Return the seconds for the repository's other commands that reach a fix."""
        given = config.others if self.others is None else self.others
        return OTHERS if given is None else given

    def tests_in(self, config: Config) -> bool:
        """Say whether fixes are to get regression tests."""
        return self.test and config.test is not False
