"""Enforce limits on a program and all its processes; part of the supervisor, so it only uses the standard library.

The kernel limits the size of each file. Memory, the number of processes and free disk space are polled: no limit of the
kernel covers a program with its children, except control groups, which need privileges.
"""

from __future__ import annotations

import contextlib
import os
import resource
import time

PERIOD = 0.1  # seconds between two checks, each of which costs 5 ms with 500 processes
_PAGE = resource.getpagesize()


def bound(file_size: int) -> None:
    """Limit the bytes of one file for the program that this process becomes, and disable core dumps."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if file_size:
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        size = file_size if most == resource.RLIM_INFINITY else min(file_size, most)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class LimitMonitor:
    """Checks whether a program keeps its limits; 0 stands for no limit."""

    def __init__(self, limits: str) -> None:
        """Parse "MEMORY,PROCESSES,FILE_SIZE,RESERVE", numbers of bytes except the second."""
        self.memory, self.processes, self.file_size, reserve = map(int, limits.split(","))
        self._folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)  # the program may remove or rename it
        self.reserve = reserve if self._free() > reserve else 0  # not if the disk was full before
        self.next = time.monotonic() + PERIOD

    @property
    def wait(self) -> float | None:
        """Return the seconds until the next check; None if there are no limits to check."""
        return max(0.0, self.next - time.monotonic()) if self.memory or self.processes or self.reserve else None

    def broken(self, pids: set[int]) -> str:
        """Return which limit a program (its process ids) has exceeded; "" for none."""
        began = time.monotonic()
        said = self._look(pids)
        # If a check takes long (thousands of processes), checks are rarer: at most a twentieth of the time.
        self.next = time.monotonic() + max(PERIOD, 20 * (time.monotonic() - began))
        return said

    def _look(self, pids: set[int]) -> str:
        if self.processes and len(pids) > self.processes:
            return f"it had more than {self.processes} processes"
        if self.memory and sum(map(_private, pids)) > self.memory and sum(map(_own_share, pids)) > self.memory:
            return f"it took more than {_size(self.memory)} of memory"
        if self.reserve and self._free() < self.reserve:
            return f"it left less than {_size(self.reserve)} free on the disk"
        return ""

    def _free(self) -> int:
        found = os.fstatvfs(self._folder)
        return found.f_bavail * found.f_frsize


def _private(pid: int) -> int:
    """Return the bytes of memory of a process, without file-backed pages."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb") as file:
        numbers = file.read().split()
        return (int(numbers[1]) - int(numbers[2])) * _PAGE
    return 0


def _own_share(pid: int) -> int:
    """Return the same with memory that forked processes share divided among them, which takes longer to read."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/smaps_rollup", "rb") as file:
        for line in file:
            if line.startswith(b"Pss_Anon:"):
                return int(line.split()[1]) * 1024
    return _private(pid)


def _size(number: int) -> str:
    return f"{number / 1e9:.3g} GB" if number >= 1e9 else f"{number / 1e6:.3g} MB"
