"""Replay cases in several processes: what is left of a case whose runs are recorded keeps one core busy."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from typing import Generic, TypeVar

FEWEST = 24  # cases: to start the processes takes as long as about ten replays
CHUNK = 6  # cases that a process takes at once: some take ten times as long as others

Given = TypeVar("Given")
Result = TypeVar("Result")


class NotRecorded(Exception):
    """A run of a case is not recorded: the case cannot be replayed."""


class SharedReplays(Generic[Given, Result]):
    """Replays of cases in forked processes; closing it ends them."""

    def __init__(
        self,
        replay: Callable[[Given], Result],
        cases: Sequence[Given],
        report: Callable[[Given, Result | None], None],
    ) -> None:
        """Start all replays. `replay` returns a result, which is pickled, or raises NotRecorded.

        `report` is called with each case and its result, in a thread of this process; the result is None if the case is
        not recorded, or if its process failed or was killed.
        """
        global _inherited
        starts = range(0, len(cases), CHUNK)
        # Forked, not spawned: the modules of rules are in no other process, and take longer to import than to replay.
        _inherited = partial(_replay, replay, cases)
        self._executor = ProcessPoolExecutor(
            min(os.cpu_count() or 1, len(starts)), multiprocessing.get_context("fork"), initializer=_begin
        )
        for start in starts:
            chunk = self._executor.submit(_call_inherited, start)
            chunk.add_done_callback(partial(_report, cases[start : start + CHUNK], report))

    def close(self) -> None:
        """End the processes, without the replays that have not begun."""
        self._executor.shutdown(wait=True, cancel_futures=True)


def are_worth_sharing(count: int) -> bool:
    """Return whether several processes replay this many cases faster than one."""
    # Only on Linux: on a Mac, a process that was forked without exec may crash in system libraries.
    return count >= FEWEST and sys.platform == "linux" and (os.cpu_count() or 1) > 1


_inherited: Callable[[int], object] | None = None  # what the forked processes call, since it cannot be pickled


def _begin() -> None:
    """Leave signals to the process that forked this one, which ends it, and look for garbage less often."""
    gc.freeze()  # what was there before the fork stays
    gc.set_threshold(50_000, 20, 20)  # the many nodes of parsed files: a tenth of the time by default
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _call_inherited(start: int) -> object:
    assert _inherited is not None
    return _inherited(start)


def _replay(replay: Callable[[Given], Result], cases: Sequence[Given], start: int) -> list[Result | None]:
    found: list[Result | None] = []
    for case in cases[start : start + CHUNK]:
        try:
            found.append(replay(case))
        except NotRecorded:
            found.append(None)
    return found


def _report(
    cases: Sequence[Given], report: Callable[[Given, Result | None], None], chunk: Future[list[Result | None]]
) -> None:
    failed = chunk.cancelled() or chunk.exception() is not None
    results = [None] * len(cases) if failed else chunk.result()
    for case, result in zip(cases, results, strict=True):
        report(case, result)
