"""The records of a fleet: the job for a repository, how it ended, and what it found."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.model import JobMode, JobOutcome
from devfix.report.find_types import CauseKind


@dataclass(frozen=True)
class JobLimits:
    """Limits of a job: `memory` and `disk` count gigabytes, `seconds` the wall time of all its steps."""

    cores: float = 1.0
    memory: float = 4.0
    disk: float = 10.0
    seconds: float = 3600.0


@dataclass(frozen=True)
class Job:
    """The work to do with one commit of a repository.

    `key` is a digest of what decides the result, that is of the other fields without `repository` and `ref`, and of the
    version of devfix: it names the result, so that a job that has one is not run again. `repository` is the name that
    is shown ("owner/name"), `address` what git clones. `run` is the command of the program, "" for those that devfix
    discovers; `options` are further options of the command of `mode`. `packages` and `torch` are what `devfix env`
    takes; `python` is an interpreter of the nodes that is used in place of a new environment. `network`: the program
    may use it.
    """

    key: str
    repository: str
    address: str
    ref: str
    commit: str
    subfolder: str = ""
    mode: JobMode = JobMode.REPAIR
    run: str = ""
    options: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    torch: str = ""
    sandbox: bool = True
    network: bool = False
    limits: JobLimits = JobLimits()
    python: str = ""


@dataclass(frozen=True)
class FindingRecord:
    """A device failure, or a silent finding, of a job.

    `number` counts the findings of the job from 1. `kind` is "raises", or the kind of a silent finding. `rule` is ""
    where none explains it; `fixed` if a verified fix is in the job's artifact.
    """

    key: str
    number: int
    repository: str
    kind: CauseKind
    rule: str
    title: str
    path: str
    line: int
    fixed: bool


@dataclass(frozen=True)
class JobRecord:
    """The result of a job; its findings are stored beside it.

    `reason` is one line for a person. `seconds` is the wall time, of which the steps took `clone_seconds`,
    `environment_seconds` and `run_seconds`; `memory` is the peak of its processes in bytes, 0 where unknown. `attempts`
    counts how often the job was begun. `environment` is the digest of the resolved packages, `python` and `torch` their
    versions. `began` is in seconds since the epoch.
    """

    key: str
    repository: str
    address: str
    ref: str
    commit: str
    mode: JobMode
    devfix: str
    outcome: JobOutcome
    reason: str = ""
    findings: tuple[FindingRecord, ...] = ()
    fixes: int = 0
    began: float = 0.0
    seconds: float = 0.0
    clone_seconds: float = 0.0
    environment_seconds: float = 0.0
    run_seconds: float = 0.0
    memory: int = 0
    attempts: int = 1
    node: str = ""
    environment: str = ""
    python: str = ""
    torch: str = ""

    @classmethod
    def of(cls, job: Job, devfix: str, outcome: JobOutcome, reason: str = "", attempts: int = 1) -> JobRecord:
        """Return the record of a job that ended so, without what its steps measured."""
        named = (job.key, job.repository, job.address, job.ref, job.commit, job.mode)
        return cls(*named, devfix, outcome, reason, attempts=attempts)


@dataclass(frozen=True)
class JobResult:
    """The record of a job and its artifact: the contents of files by path, as `--output` of the command writes them.

    The program under repair may have written any of it: readers treat both as hostile.
    """

    record: JobRecord
    artifact: tuple[tuple[str, bytes], ...] = ()
