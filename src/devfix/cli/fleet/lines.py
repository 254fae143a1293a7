"""The progress of a fleet in lines, for logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from devfix.fleet.records import Job, JobRecord
from devfix.progress import duration
from devfix.report.render.plain import one_line


class LineProgress:
    """Writes a line for each step, and for each job that ends."""

    def __init__(self, stream: TextIO) -> None:
        """Write to a stream."""
        self._stream, self._ended, self._jobs = stream, 0, 0

    def say(self, text: str) -> None:
        """Write a step."""
        self._stream.write(f"devfix: {one_line(text)}\n")
        self._stream.flush()

    def plan(self, jobs: Sequence[Job], earlier: int, workers: float, dashboard: str) -> None:
        """Write how many jobs there are, and where Ray's dashboard is."""
        self._jobs = len(jobs)
        more = f", {earlier} have a result" if earlier else ""
        where = f"; Ray's dashboard: {dashboard}" if dashboard else ""
        self.say(f"{len(jobs)} to run on {workers:g} cores{more}{where}")

    def start(self, job: Job) -> None:
        """Write nothing: that a job waits or runs is no news in a log."""

    def end(self, record: JobRecord) -> None:
        """Write how a job ended."""
        self._ended += 1
        reason = f": {record.reason}" if record.reason else ""
        took = duration(record.seconds)
        self.say(f"{self._ended} of {self._jobs}, {record.repository} {record.outcome.value} in {took}{reason}")
