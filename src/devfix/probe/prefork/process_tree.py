"""List the processes that a process has started, and end them; for scripts, so of the standard library alone."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterable, Mapping

SUBREAPER, PARENT_DEATH_SIGNAL = 36, 1  # the options of prctl(2)
PATIENCE = 10.0  # seconds without a process ending until killed processes are given up, which a hanging disk may keep


def control(option: int, value: int) -> None:
    """Call prctl(2) if the platform has it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


class ProcessTree:
    """Lists the living descendants of this process, from /proc.

    A process that was none of them is not read again while it lives: to read all of 100 took 1.8 ms.
    """

    def __init__(self) -> None:
        """Know of no process yet."""
        self._others: set[int] = set()

    def descendants(self) -> set[int]:
        """Return the process ids of all living descendants."""
        pids = set(map(int, filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ())))
        self._others &= pids  # an id that is free may become that of a descendant
        parents = dict[int, int]()
        for pid in pids - self._others:
            try:
                with open(f"/proc/{pid}/stat", "rb") as stat:
                    state, parent = stat.read().rpartition(b")")[2].split()[:2]
            except (OSError, ValueError):
                continue
            if state != b"Z":
                parents[pid] = int(parent)
        found = _below(parents, {os.getpid()})
        # Whose parent has just ended is known at the next look: it may be an orphan that this process inherits.
        self._others |= _below(parents, {0} | self._others) - found
        return found - {os.getpid()}


def _below(parents: Mapping[int, int], pids: set[int]) -> set[int]:
    found = set(pids)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def reap(ended: dict[int, int]) -> bool:
    """Collect the ended children into `ended` (process id to wait status); return whether any child is left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        ended[pid] = status


def signal_all(pids: Iterable[int], number: int) -> None:
    """Send the signal to those that still exist and may be signalled."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def sweep(group: int, ended: dict[int, int]) -> int:
    """Kill the program's group and all descendants; return how many could not be killed.

    Those that leave the group are inherited by this process, which is a subreaper.
    """
    with contextlib.suppress(OSError):
        os.killpg(group, signal.SIGKILL)
    known, deadline = -1, 0.0
    while reap(ended):
        if len(ended) > known:  # on a busy machine they end one by one
            known, deadline = len(ended), time.monotonic() + PATIENCE
        elif time.monotonic() > deadline:
            break
        stopped: set[int] = set()
        while fresh := ProcessTree().descendants() - stopped:  # stopped first, or endless forks would outrun it
            signal_all(fresh, signal.SIGSTOP)
            stopped |= fresh
        signal_all(stopped, signal.SIGKILL)
        time.sleep(0.002)
    return len(ProcessTree().descendants()) if reap(ended) else 0
