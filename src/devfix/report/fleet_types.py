"""The JSON of `devfix fleet status`: the types from which it is written, and from which fleet.json is generated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from devfix.model import JobMode, JobOutcome
from devfix.report.failure_types import Count

Seconds = Annotated[float, Meta(description="seconds")]
Bytes = Annotated[int, Meta(description="bytes")]


@dataclass(frozen=True, kw_only=True)
class OutcomeCountRecord:
    """The number of jobs that ended in one way."""

    outcome: JobOutcome
    jobs: Count
    is_failure: Annotated[bool, Meta(description="they say nothing about the devices of the program")] = False


@dataclass(frozen=True, kw_only=True)
class RuleCountRecord:
    """The findings that one rule explains."""

    rule: Annotated[str, Meta(description="empty where no rule explains them")]
    findings: Count
    fixed: Count
    repositories: Count


@dataclass(frozen=True, kw_only=True)
class RepositoryRecord:
    """A planned job and how it ended."""

    key: Annotated[str, Meta(description="names the folder of its files in `artifacts`")]
    repository: str
    address: str
    commit: str
    mode: JobMode
    outcome: Annotated[JobOutcome | None, Meta(description="null if the job has not ended")]
    reason: str = ""
    findings: Count = 0
    fixed: Count = 0
    seconds: Seconds = 0.0


@dataclass(frozen=True, kw_only=True)
class FailureReasonRecord:
    """A reason for which jobs say nothing about devices."""

    outcome: JobOutcome
    reason: str
    jobs: Count
    repositories: Annotated[tuple[str, ...], Meta(description="the first five by name")]


@dataclass(frozen=True, kw_only=True)
class StepSecondsRecord:
    """The time of one step, of the jobs in which it took any."""

    step: Literal["clone", "environment", "run", "job"]
    jobs: Count
    total: Seconds
    median: Seconds
    p90: Seconds
    p99: Seconds
    longest: Seconds


@dataclass(frozen=True, kw_only=True)
class MemoryRecord:
    """The peak memory of the jobs for which it is known."""

    jobs: Count
    median: Bytes
    p90: Bytes
    largest: Bytes


@dataclass(frozen=True, kw_only=True)
class FleetRecord:
    """The state of a fleet: each planned job is in `outcomes`, or among `pending`."""

    schema: Literal["devfix-fleet-status/1"] = "devfix-fleet-status/1"
    planned: Count
    pending: Annotated[Count, Meta(description="planned jobs without a result")]
    unplanned: Annotated[Count, Meta(description="results of jobs that are not planned any more, not counted below")]
    outcomes: tuple[OutcomeCountRecord, ...]
    findings: Count
    fixed: Count
    rules: tuple[RuleCountRecord, ...]
    repositories: tuple[RepositoryRecord, ...]
    failures: tuple[FailureReasonRecord, ...]
    seconds: tuple[StepSecondsRecord, ...]
    memory: MemoryRecord | None = field(default=None)
