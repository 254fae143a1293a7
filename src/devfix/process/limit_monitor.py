"""Enforce limits on a program and all its processes; part of the supervisor, so it only uses the standard library.

The kernel limits the size of each file. Memory, the number of processes and disk space are polled: no limit of the
kernel covers a program with its children, except control groups, which need privileges.
"""

from __future__ import annotations

import contextlib
import os
import resource
import time

PERIOD = 0.1  # seconds between two checks, each of which costs 5 ms with 500 processes
_DISK_PERIOD = 1.0  # seconds between two checks of a folder's size, each of which costs 0.1 s with 20,000 files
_PAGE = resource.getpagesize()


def set_limits(file_size: int) -> None:
    """Limit the bytes of one file for the program that this process becomes, and disable core dumps."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if file_size:
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        size = file_size if most == resource.RLIM_INFINITY else min(file_size, most)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class LimitMonitor:
    """Checks whether a program keeps its limits; 0 stands for no limit.

    `peak` is the most memory seen, in bytes, and `core_wait` the seconds for which main threads were kept from a core.
    """

    def __init__(self, limits: str) -> None:
        """Parse "MEMORY,PROCESSES,FILE_SIZE,RESERVE,DISK", numbers of bytes except the second."""
        self.memory, self.processes, self.file_size, reserve, self.disk = map(int, limits.split(","))
        self.peak = 0
        self._core_waits: dict[int, int] = {}  # by process, in nanoseconds
        self._folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)  # the program may remove or rename it
        self.reserve = reserve if self._free() > reserve else 0  # not if the disk was full before
        self.next = self._next_disk = time.monotonic() + PERIOD

    @property
    def wait(self) -> float | None:
        """Return the seconds until the next check; None if there are no limits to check."""
        return max(0.0, self.next - time.monotonic()) if self._is_limited else None

    @property
    def core_wait(self) -> float:
        """The seconds for which the main threads of all processes could have run, and had no core."""
        return sum(self._core_waits.values()) / 1e9

    @property
    def _is_limited(self) -> bool:
        return bool(self.memory or self.processes or self.reserve or self.disk)

    def exceeded_limit(self, pids: set[int]) -> str:
        """Return which limit a program (its process ids) has exceeded, its kind first; "" for none."""
        began = time.monotonic()
        said = self._look(pids)
        self._core_waits.update(filter(None, map(_core_wait, pids)))
        # If a check takes long (thousands of processes), checks are rarer: at most a twentieth of the time.
        self.next = time.monotonic() + max(PERIOD, 20 * (time.monotonic() - began))
        return said

    def _look(self, pids: set[int]) -> str:
        if self.processes and len(pids) > self.processes:
            return f"processes it had more than {self.processes} processes"
        taken = sum(map(_private, pids)) if self.memory else 0
        if self.memory and taken > self.memory:
            taken = sum(map(_own_share, pids))
        self.peak = max(self.peak, taken)
        if self.memory and taken > self.memory:
            return f"memory it took more than {_size(self.memory)} of memory"
        if self.reserve and self._free() < self.reserve:
            return f"reserve it left less than {_size(self.reserve)} free on the disk"
        if self.disk and time.monotonic() >= self._next_disk and self._is_disk_full():
            return f"disk its files took more than {_size(self.disk)} of disk"
        return ""

    def _is_disk_full(self) -> bool:
        began = time.monotonic()
        is_full = folder_size(self._folder, self.disk) > self.disk
        self._next_disk = time.monotonic() + max(_DISK_PERIOD, 20 * (time.monotonic() - began))
        return is_full

    def _free(self) -> int:
        found = os.fstatvfs(self._folder)
        return found.f_bavail * found.f_frsize


def folder_size(folder: int | str, enough: int) -> int:
    """Return the bytes that the files below a folder take on the disk; stop counting where it is more than `enough`."""
    size, seen = 0, set()
    for _, _, files, inner in os.fwalk(".", dir_fd=folder) if isinstance(folder, int) else os.fwalk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                found = os.stat(name, dir_fd=inner, follow_symlinks=False)
                if found.st_nlink == 1 or found.st_ino not in seen:
                    size += found.st_blocks * 512
                if found.st_nlink > 1:
                    seen.add(found.st_ino)
        if size > enough:
            break
    return size


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


def _core_wait(pid: int) -> tuple[int, int] | None:
    """Return a process, and the nanoseconds for which its main thread waited for a core; None if unknown."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/schedstat", "rb") as file:
        return pid, int(file.read().split()[1])
    return None


def _size(number: int) -> str:
    return f"{number / 1e9:.3g} GB" if number >= 1e9 else f"{number / 1e6:.3g} MB"
