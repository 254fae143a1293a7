"""What a repair is doing at the moment, for those who wait for it."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Progress:
    """The step at hand, the candidate that is tried, and the runs of the program that are under way.

    Calling it begins a step, which `show` is told at once; `told` has the rest, whenever somebody asks.
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        """Show each step to `show` as it begins; the time counts from here."""
        self._show, self._began, self._lock = show, time.monotonic(), threading.Lock()
        self._step = self._candidate = ""
        self._numbers = itertools.count()
        self._runs: dict[int, tuple[str, float]] = {}
        self._plain: dict[str, float] = {}

    def __call__(self, step: str) -> None:
        """Begin a step."""
        with self._lock:
            self._step, self._candidate = step, ""
        self._show(step)

    @property
    def elapsed(self) -> float:
        """The seconds since the repair began."""
        return time.monotonic() - self._began

    def candidates(self, first: int, last: int, most: int, title: str) -> None:
        """Say which candidates are tried now, counted from 1, of how many at most; `title` is that of the first."""
        number = f"candidate {first}" if first == last else f"candidates {first} and {last}"
        with self._lock:
            self._candidate = f"{number} of at most {max(most, last)}: {title}"

    @contextmanager
    def running(self, world: str, is_plain: bool) -> Iterator[None]:
        """Count a run of the program in a world as under way; `is_plain`: nothing is changed in it."""
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

    def told(self) -> str:
        """Return the step, the candidate, the worlds that are run and for how long, and what a plain run took."""
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
    """Return a time as people say it.

    >>> duration(7.4), duration(62), duration(3700)
    ('7 s', '1 min 2 s', '1 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
