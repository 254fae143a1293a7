"""Notice that a program has come to a standstill after a device failure, so that its whole time limit need not pass."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

_PERIOD = 1.0  # seconds between two looks
IDLE = 10.0  # seconds in which the processes must have done nothing
_WORK = 0.05  # the share of one core below which they do nothing: threads that wait wake up now and then


class StandstillWatch:
    """Says when a run is to be ended: its result is not asked for any more, or the program waits for ever.

    It does so once it has run for longer than `limit` returns, has recorded a device failure in `traces`, and none of
    the processes that use torch has worked for `idle` seconds. Where `limit` returns None it goes on.
    """

    def __init__(
        self, traces: Path, limit: Callable[[], float | None], cancelled: Event | None = None, idle: float = IDLE
    ) -> None:
        """Count the time from here."""
        self._traces, self._limit, self._cancelled, self._idle = traces, limit, cancelled, idle
        self._began = self._looked = time.monotonic()
        self._idle_since: tuple[float, float] | None = None  # the time, and the work done by then

    def is_set(self) -> bool:
        """Return whether the run is to be ended."""
        if self._cancelled is not None and self._cancelled.is_set():
            return True
        now, limit = time.monotonic(), self._limit()
        if limit is None or now - self._began < limit - self._idle or now - self._looked < min(_PERIOD, self._idle / 4):
            return False
        self._looked = now
        return self._is_idle(now) and now - self._began >= limit and self._has_failed()

    def _is_idle(self, now: float) -> bool:
        used = sum(_seconds_of_work(int(path.stem)) for path in self._traces.glob("*.begun") if path.stem.isdigit())
        if self._idle_since is None or used < self._idle_since[1]:
            self._idle_since = (now, used)
        since, before = self._idle_since
        if used - before > _WORK * max(now - since, 1.0):
            self._idle_since = (now, used)
        return now - self._idle_since[0] >= self._idle

    def _has_failed(self) -> bool:
        for path in self._traces.glob("*.json"):
            try:
                trace = json.loads(path.read_text("utf-8"))
            except (OSError, ValueError):
                continue
            if isinstance(trace, dict) and (
                trace.get("handled") or (trace.get("failure") or {}).get("kind", "other") != "other"
            ):
                return True
        return False


def _seconds_of_work(pid: int) -> float:
    """Return for how long a process has worked, or could have if a core had been free; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        waited = Path(f"/proc/{pid}/schedstat").read_bytes().split()[1]
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + int(waited) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
