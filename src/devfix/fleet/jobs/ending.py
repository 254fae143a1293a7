"""End a job before its result is known: at a limit, or by a step that failed."""

from __future__ import annotations

from devfix.fleet.records import JobLimits
from devfix.model import JobOutcome
from devfix.process import Completed, LimitKind


class Ended(Exception):
    """Ends a job with an outcome, and a reason in one line."""

    def __init__(self, outcome: JobOutcome, reason: str) -> None:
        """Keep both."""
        super().__init__(reason)
        self.outcome, self.reason = outcome, reason


def ended_by_limit(done: Completed, limits: JobLimits) -> None:
    """Raise Ended if a command was ended for a limit of the job."""
    if done.timed_out:
        raise Ended(JobOutcome.TIMED_OUT, f"the job did not end within {limits.seconds:g} s")
    if done.limit is LimitKind.MEMORY:
        raise Ended(JobOutcome.OUT_OF_MEMORY, f"the job took more than {limits.memory:g} GB of memory")
    if done.limit is LimitKind.PROCESSES:
        raise Ended(JobOutcome.PROGRAM_FAILED, done.internal_error.removeprefix("devfix ended the program: "))
    if done.limit is not None:
        raise Ended(JobOutcome.OUT_OF_DISK, f"the job took more than {limits.disk:g} GB of disk")
