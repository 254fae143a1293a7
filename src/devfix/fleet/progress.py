"""The interface to the progress of a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from devfix.fleet.records import Job, JobRecord


class FleetProgress(Protocol):
    """Receives the progress of a run; each job of `jobs` is started at least once, and ends once."""

    def say(self, text: str) -> None:
        """Report a step before or after the jobs, such as "starting Ray"."""

    def plan(self, jobs: Sequence[Job], earlier: int, workers: float, dashboard: str) -> None:
        """Report the jobs to run, how many had a result before, for how many cores, and where Ray's dashboard is."""

    def start(self, job: Job) -> None:
        """Report that a job was handed to Ray."""

    def end(self, record: JobRecord) -> None:
        """Report how a job ended."""
