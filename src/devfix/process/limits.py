"""What a program may take of the machine."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from devfix.process.tempdirs import temporary


@dataclass(frozen=True)
class ResourceLimits:
    """Bounds for one run of a program with all its processes; 0 stands for none.

    `memory` counts bytes in use, `processes` those alive at once, `file_size` the bytes of each file it writes,
    `output_limit` the bytes kept of each of its two streams, `reserve` the bytes that it must leave free on the disk.
    """

    memory: int = 0
    processes: int = 0
    file_size: int = 0
    output_limit: int = 8_000_000
    reserve: int = 0

    def times(self, count: int) -> ResourceLimits:
        """Return the bounds for so many runs at once."""
        return replace(self, memory=self.memory * count, processes=self.processes * count)


def default_limits() -> ResourceLimits:
    """Return bounds that keep a machine usable and that no honest program of its size meets.

    Nine tenths of the memory that this process may have, 1,000 processes, half of the free disk for one file, and a
    tenth of it (1 GB at most) left free.
    """
    free = shutil.disk_usage(temporary()).free
    return ResourceLimits(
        memory=_memory() * 9 // 10, processes=1000, file_size=free // 2, reserve=min(free // 10, 1_000_000_000)
    )


def _memory() -> int:
    """Return the bytes of memory here: the machine's, or what a control group leaves of it."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            found = min(found, int(Path(path).read_text()))
        except (OSError, ValueError):  # there is none, or it says "max"
            continue
    return found
