"""Limits on the resources that a program may use."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from devfix.process.tempdirs import temporary


class LimitKind(str, Enum):
    """A limit that a program exceeded, and was ended for."""

    MEMORY = "memory"
    PROCESSES = "processes"
    DISK = "disk"
    RESERVE = "reserve"


@dataclass(frozen=True)
class ResourceLimits:
    """Limits for one run of a program with all its processes; 0 stands for no limit.

    `memory` counts bytes in use, `processes` those alive at once, `file_size` the bytes of each file it writes,
    `output_limit` the bytes kept of each of its two streams, `reserve` the bytes that must stay free on the disk,
    `disk` those that all files in the folder of the program may take.
    """

    memory: int = 0
    processes: int = 0
    file_size: int = 0
    output_limit: int = 8_000_000
    reserve: int = 0
    disk: int = 0

    def times(self, count: int) -> ResourceLimits:
        """Return the limits for `count` runs at once."""
        return replace(self, memory=self.memory * count, processes=self.processes * count)


def default_limits() -> ResourceLimits:
    """Return limits that keep the machine usable and that an ordinary program does not reach.

    Nine tenths of the memory available to this process, 1,000 processes, half of the free disk for one file, and a
    tenth of it (1 GB at most) left free.
    """
    free = shutil.disk_usage(temporary()).free
    return ResourceLimits(
        memory=_memory() * 9 // 10, processes=1000, file_size=free // 2, reserve=min(free // 10, 1_000_000_000)
    )


def _memory() -> int:
    """Return the bytes of memory available: the machine's, or what a control group allows."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            found = min(found, int(Path(path).read_text()))
        except (OSError, ValueError):  # there is no control group, or its limit is "max"
            continue
    return found
