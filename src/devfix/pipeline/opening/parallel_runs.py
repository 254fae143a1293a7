"""The number of runs of a program at once, from what its first run has taken of the machine."""

from __future__ import annotations

import math
import os
from pathlib import Path

from devfix.model import Run

MOST = 8  # worktrees: the runs of one candidate in all worlds, and two of the program without it
_SPARE = 2  # runs with a patch may take more memory than the first: half of what is free stays free
_LEAST = 10.0  # seconds of a run, below which starting it takes most of its time


def parallel_runs(run: Run, usual: int, limit: int = 0) -> int:
    """Return how many runs like this one the machine has cores and memory for, `usual` at least.

    `limit` is the most bytes that all of them may take, 0 for no limit. A program that waits, or loads data, leaves its
    core to others, also where others keep the cores busy: what it waited for a core is what it would have taken of one.
    A world with real GPUs is not filled with more, since the memory of GPUs is not measured; nor is one whose use of
    memory is unknown.
    """
    if run.world.kind == "real" or run.seconds < _LEAST or not run.processor or not run.memory:
        return usual
    share = max((run.processor + run.core_wait) / run.seconds, 0.01)
    by_cores = math.floor(cores() / share)
    free = available_memory() // _SPARE
    memory = min(free, limit) if limit else free
    return max(usual, min(MOST, by_cores, memory // run.memory))


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available_memory() -> int:
    """Return the bytes of memory that new processes can take; 0 if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    found = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), "0")
    return int(found) * 1024
