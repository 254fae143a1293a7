"""Limits on what a program may use: as selected, as configured, or the defaults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from devfix.config import Config
from devfix.errors import UserError
from devfix.process import ResourceLimits, default_limits, why_no_sandbox

GIGABYTE, MEGABYTE = 1_000_000_000, 1_000_000


@dataclass(frozen=True)
class ResourceOptions:
    """Limits that the caller selected; None selects the configured value, or else the default.

    `memory` and `file_size` count gigabytes, `output_limit` megabytes of each stream.
    """

    memory: float | None = None
    processes: int | None = None
    file_size: float | None = None
    output_limit: float | None = None
    sandbox: bool | None = None

    def limits(self, config: Config) -> ResourceLimits:
        """Return the limits for one run of the program."""
        plain = default_limits()
        return ResourceLimits(
            memory=_bytes(self.memory or config.memory, GIGABYTE) or plain.memory,
            processes=self.processes or config.processes or plain.processes,
            file_size=_bytes(self.file_size or config.file_size, GIGABYTE) or plain.file_size,
            output_limit=_bytes(self.output_limit or config.output_limit, MEGABYTE) or plain.output_limit,
            reserve=plain.reserve,
        )

    def is_sandboxed(self, config: Config) -> bool:
        """Return whether the program runs in a sandbox. Raises UserError if that was selected and is not possible."""
        wanted = config.sandbox if self.sandbox is None else self.sandbox
        if wanted and (why := why_no_sandbox()):
            where = f"{config.source}: sandbox" if self.sandbox is None else "--sandbox"
            raise UserError(f"{where}: {why}; without it the program would run with all of your rights")
        return bool(wanted)


def _bytes(number: float | None, unit: int) -> int:
    return max(1, int(number * unit)) if number else 0


def needed_in_sandbox(python: Path, root: Path) -> tuple[Path, ...]:
    """Return what a program reads outside the repository: its environment, the user's data, probe and plugin."""
    devfix = Path(__file__).resolve().parents[2]
    return (python.parent.parent, python.resolve().parent.parent, root, devfix)
