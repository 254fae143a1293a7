"""Progress of a repair, for display, and the time that steps take."""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LONGEST = 500  # bytes of a line that is kept
_ENDS = re.compile(rb"[\r\n]+")  # a bar of progress returns to the start of its line
_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")


class StepTimes(dict[str, float]):
    """The seconds of each step by its name, rounded to milliseconds."""

    @contextmanager
    def measure(self, step: str, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
        """Add the seconds by `clock` that the block takes to those of a step."""
        began = clock()
        try:
            yield
        finally:
            self[step] = round(self.get(step, 0.0) + clock() - began, 3)


class LastLine:
    """The last line, not an empty one, that a program has printed on any of its streams."""

    def __init__(self) -> None:
        self.text = ""
        self._begun: dict[int, bytes] = {}

    def hear(self, stream: int, data: bytes) -> None:
        """Take what the program has printed on a stream, in the pieces in which it comes."""
        pieces = _ENDS.split(_ESCAPES.sub(b"", self._begun.get(stream, b"") + data))
        self._begun[stream] = pieces[-1][-_LONGEST:]
        line = next((each for each in reversed(pieces) if each.strip()), b"")
        if line:
            self.text = line[:_LONGEST].decode("utf-8", "replace").strip()


class Progress:
    """The current step, the candidate that is tried, and the runs of the program in progress.

    Calling it starts a step and passes it to `show` at once; `summary` returns the details at any time.
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        """Pass each step to `show` when it starts; time is counted from here."""
        self._show, self._began, self._lock = show, time.monotonic(), threading.Lock()
        self._step = self._candidate = ""
        self._numbers = itertools.count()
        self._runs: dict[int, tuple[str, float, LastLine]] = {}
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
    def running(self, world: str, is_plain: bool) -> Iterator[LastLine]:
        """Count a run of the program in a world as in progress; `is_plain`: the program is unchanged.

        What it prints is to be given to what is yielded.
        """
        number, began, line = next(self._numbers), time.monotonic(), LastLine()
        with self._lock:
            self._runs[number] = (world, began, line)
        try:
            yield line
        finally:
            with self._lock:
                del self._runs[number]
                if is_plain:
                    self._plain.setdefault(world, time.monotonic() - began)

    def summary(self) -> str:
        """Return the step, the candidate, the worlds in progress with their times, and the time of a plain run.

        At the end is the last line that the program has printed in the run that began last.
        """
        now = time.monotonic()
        with self._lock:
            parts = [self._step, self._candidate]
            parts += [f"on {world} for {duration(now - began)}" for world, began, _ in self._runs.values()]
            worlds = {world for world, _, _ in self._runs.values()}
            lines = [line.text for _, _, line in self._runs.values() if line.text]
            known = [world for world in self._plain if world in worlds] or list(self._plain)
            took = ", ".join(f"{duration(self._plain[world])} on {world}" for world in known)
            parts.append(f"a plain run took {took}" if took else "")
            parts.append(f"it prints: {lines[-1]}" if lines else "")
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
