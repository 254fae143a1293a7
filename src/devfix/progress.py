"""Progress of a repair, for display."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Progress:
    """The current step, the candidate that is tried, and the runs of the program in progress.

    Calling it starts a step and passes it to `show` at once; `summary` returns the details at any time.
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        """Pass each step to `show` when it starts; time is counted from here."""
        self._show, self._began, self._lock = show, time.monotonic(), threading.Lock()
        self._step = self._candidate = ""
        self._numbers = itertools.count()
        self._runs: dict[int, tuple[str, float]] = {}
        self._plain: dict[str, float] = {}

    def __call__(self, step: str) -> None:
        """Start a step."""
        with self._lock:
            self._step, self._candidate = step, ""
        self._show(step)

    @property
    def elapsed(self) -> float:
        """The seconds since the repair began."""
        return time.monotonic() - self._began

    def candidates(self, first: int, last: int, most: int, title: str) -> None:
        """Set the candidates that are tried now, counted from 1, of at most `most`; `title` is that of the first."""
        number = f"candidate {first}" if first == last else f"candidates {first} and {last}"
        with self._lock:
            self._candidate = f"{number} of at most {max(most, last)}: {title}"

    @contextmanager
    def running(self, world: str, is_plain: bool) -> Iterator[None]:
        """Count a run of the program in a world as in progress; `is_plain`: the program is unchanged."""
        number, began = next(self._numbers), time.monotonic()
        with self._lock:
            self._runs[number] = (world, began)
        try:
            yield
        finally:
            with self._lock:
                del self._runs[number]
                if is_plain:
                    self._plain.setdefault(world, time.monotonic() - began)

    def summary(self) -> str:
        """Return the step, the candidate, the worlds in progress with their times, and the time of a plain run."""
        now = time.monotonic()
        with self._lock:
            parts = [self._step, self._candidate]
            parts += [f"on {world} for {duration(now - began)}" for world, began in self._runs.values()]
            worlds = {world for world, _ in self._runs.values()}
            known = [world for world in self._plain if world in worlds] or list(self._plain)
            took = ", ".join(f"{duration(self._plain[world])} on {world}" for world in known)
            parts.append(f"a plain run took {took}" if took else "")
        return "; ".join(filter(None, parts))


def duration(seconds: float) -> str:
    """Return a duration for display.

    >>> duration(7.4), duration(62), duration(3700)
    ('7 s', '1 min 2 s', '1 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
