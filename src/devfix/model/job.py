"""The command of a job of a fleet, and how the job ends."""

from __future__ import annotations

from enum import Enum


class JobMode(str, Enum):
    """The command of devfix that a job runs."""

    REPAIR = "repair"
    FIND = "find"

    __str__ = str.__str__


class JobOutcome(str, Enum):
    """The outcome of a job. Every job of a plan ends in one of these, or is still to be run."""

    REPAIRED = "repaired"  # every failure has a verified fix
    PARTIAL = "partial"  # verified fixes, and a failure that remains
    NOT_REPAIRED = "not repaired"  # a device failure without a verified fix
    FOUND = "found"  # `find`: findings without fixes
    CLEAN = "clean"
    PROGRAM_FAILED = "program failed"  # for a reason of its own, on the CPU too
    NOTHING_TO_RUN = "nothing to run"
    CLONE_FAILED = "clone failed"
    ENVIRONMENT_FAILED = "environment failed"
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    OUT_OF_DISK = "out of disk"
    LOST = "lost"  # its node died more often than a job is tried
    ARTIFACT_REJECTED = "artifact rejected"  # the job's files are not such as devfix writes
    INTERNAL_ERROR = "internal error"

    __str__ = str.__str__

    @property
    def is_passing(self) -> bool:
        """True if the cause may be gone the next time, so that another run of the fleet tries the job again."""
        return self in (JobOutcome.CLONE_FAILED, JobOutcome.LOST, JobOutcome.INTERNAL_ERROR)

    @property
    def is_failure(self) -> bool:
        """True if the job says nothing about the devices of the program."""
        return self in _FAILURES


_FAILURES = frozenset(
    (
        JobOutcome.PROGRAM_FAILED,
        JobOutcome.NOTHING_TO_RUN,
        JobOutcome.CLONE_FAILED,
        JobOutcome.ENVIRONMENT_FAILED,
        JobOutcome.TIMED_OUT,
        JobOutcome.OUT_OF_MEMORY,
        JobOutcome.OUT_OF_DISK,
        JobOutcome.LOST,
        JobOutcome.ARTIFACT_REJECTED,
        JobOutcome.INTERNAL_ERROR,
    )
)
