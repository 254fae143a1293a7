"""The progress of a fleet: a live board in a terminal, elsewhere a line for each job, or now and then for thousands."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from devfix.progress import duration
from devfix.report.plain import one_line

if TYPE_CHECKING:
    from devfix.fleet.progress import FleetProgress
    from devfix.fleet.records import Job, JobRecord

_EACH = 200  # jobs: of more, a log gets no line for each
_INTERVAL = 5.0  # seconds between two lines of more jobs
_RECENT = 5  # jobs on the board
_ENOUGH = 3  # jobs that tell how long the others take


@contextmanager
def fleet_progress() -> Iterator[FleetProgress]:
    """Yield what shows the progress of a run on standard error, a terminal or not."""
    console = Console(stderr=True, soft_wrap=True)
    if not console.is_terminal:
        yield FleetLines(lambda line: console.print(Text(line), highlight=False))
        return
    board = FleetBoard(console)
    with Live(board, console=console, refresh_per_second=4, redirect_stdout=False):
        yield board


class FleetCounts:
    """The progress of a run; the time left is estimated from the jobs that have ended."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Count nothing yet; `now` is the clock."""
        self._now, self._began, self._planned = now, now(), now()
        self.jobs = self.earlier = self.ended = self.failed = self.findings = self.fixes = 0
        self.workers, self.dashboard = 0.0, ""
        self.running: set[str] = set()

    def plan(self, jobs: Sequence[Job], earlier: int, workers: float, dashboard: str) -> None:
        """Take what is to be run."""
        self.jobs, self.earlier, self.workers, self.dashboard = len(jobs), earlier, workers, dashboard
        self._planned = self._now()

    def start(self, job: Job) -> None:
        """Count a job that was handed to Ray."""
        self.running.add(job.key)

    def end(self, record: JobRecord) -> None:
        """Count a job that ended."""
        self.running.discard(record.key)
        self.ended += 1
        self.failed += record.outcome.is_failure
        self.findings += len(record.findings)
        self.fixes += record.fixes

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._now() - self._began

    @property
    def left(self) -> float | None:
        """Seconds that the other jobs will take; None until some have ended, and after the last."""
        if self.ended < _ENOUGH or self.ended >= self.jobs:
            return None
        return (self._now() - self._planned) / self.ended * (self.jobs - self.ended)

    def parts(self) -> list[str]:
        """Return the counts in words."""
        found = f"{self.findings} finding{'s'[self.findings == 1 :]}, {self.fixes} fixed"
        left = f"about {duration(self.left)} left" if self.left is not None else ""
        return [part for part in (f"{len(self.running)} running", f"{self.failed} failed", found, left) if part]


class FleetLines:
    """Writes a line for each step and each job that ends; of thousands, a line with the counts every few seconds."""

    def __init__(self, write: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        """Pass each line to `write`; `now` is the clock."""
        self._write, self._now, self._counts, self._last = write, now, FleetCounts(now), now()

    def say(self, text: str) -> None:
        """Write a step."""
        self._write(one_line(f"devfix: {text}", 400))

    def plan(self, jobs: Sequence[Job], earlier: int, workers: float, dashboard: str) -> None:
        """Write how many jobs there are, and where Ray's dashboard is."""
        self._counts.plan(jobs, earlier, workers, dashboard)
        self.say(plan_text(self._counts) + (f"; Ray's dashboard: {dashboard}" if dashboard else ""))

    def start(self, job: Job) -> None:
        """Write nothing: that a job begins is no news in a log."""
        self._counts.start(job)

    def end(self, record: JobRecord) -> None:
        """Write how a job ended, or where the run is."""
        counts = self._counts
        counts.end(record)
        if counts.jobs <= _EACH:
            self.say(f"{counts.ended} of {counts.jobs}: {ending_text(record)}")
        elif self._now() - self._last >= _INTERVAL or counts.ended == counts.jobs:
            self._last = self._now()
            self.say(f"{counts.ended} of {counts.jobs} jobs ended: {', '.join(counts.parts())}")


class FleetBoard:
    """Shows the counts of a run, its latest jobs and the time left; `Live` renders it again and again."""

    def __init__(self, console: Console, now: Callable[[], float] = time.monotonic) -> None:
        """Print steps to a console; `now` is the clock."""
        self._console, self._counts = console, FleetCounts(now)
        self._recent: deque[tuple[str, bool]] = deque(maxlen=_RECENT)

    def say(self, text: str) -> None:
        """Print a step above the board."""
        self._console.print(Text(one_line(f"devfix: {text}", 400)), highlight=False)

    def plan(self, jobs: Sequence[Job], earlier: int, workers: float, dashboard: str) -> None:
        """Take what is to be run."""
        self._counts.plan(jobs, earlier, workers, dashboard)
        self.say(plan_text(self._counts))

    def start(self, job: Job) -> None:
        """Count a job as running."""
        self._counts.start(job)

    def end(self, record: JobRecord) -> None:
        """Count a job as ended, and show how."""
        self._counts.end(record)
        self._recent.append((ending_text(record), record.outcome.is_failure))

    def __rich__(self) -> RenderableType:
        counts = self._counts
        if not counts.jobs:
            return Text("")
        width = max(20, self._console.width - 1)
        head = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=counts.jobs, completed=counts.ended, width=min(40, width // 3))
        head.add_row(bar, Text(f"{counts.ended} of {counts.jobs} jobs in {duration(counts.elapsed)}"))
        lines = [Text(_cut("  ".join(counts.parts()), width))]
        if counts.dashboard:
            lines.append(Text(_cut(f"Ray's dashboard: {counts.dashboard}", width), style="dim"))
        recent = [Text(_cut(text, width), style="red" if failed else "") for text, failed in list(self._recent)]
        return Group(head, *lines, *recent)


def plan_text(counts: FleetCounts) -> str:
    """Return what a run is about to do."""
    earlier = f", {counts.earlier} more have a result" if counts.earlier else ""
    return f"{counts.jobs} job{'s'[counts.jobs == 1 :]} to run on {counts.workers:g} cores{earlier}"


def ending_text(record: JobRecord) -> str:
    """Return how a job ended in one line."""
    reason = f": {record.reason}" if record.reason else ""
    return one_line(f"{record.repository} {record.outcome.value} in {duration(record.seconds)}{reason}")


def _cut(text: str, width: int) -> str:
    return one_line(text, width)
