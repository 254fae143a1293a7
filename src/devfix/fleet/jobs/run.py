"""The steps of a job, in a folder of its own."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from devfix.fleet.jobs.artifact import read_artifact
from devfix.fleet.jobs.commands import GIGABYTE, Commands, Interpreter
from devfix.fleet.jobs.ending import Ended
from devfix.fleet.jobs.folders import JobFolder, NodeFolders
from devfix.fleet.jobs.reading import Reading, read_result
from devfix.fleet.records import Job, JobRecord, JobResult
from devfix.model import JobOutcome
from devfix.process import why_no_sandbox
from devfix.progress import StepTimes
from devfix.report.plain import one_line
from devfix.workspace import CheckoutError, check_out_commit

_CHECKOUT = {"": JobOutcome.CLONE_FAILED, "time": JobOutcome.TIMED_OUT, "disk": JobOutcome.OUT_OF_DISK}


@dataclass
class _Steps:
    """The state of a job that runs."""

    seconds: StepTimes = field(default_factory=StepTimes)
    python: Interpreter | None = None
    artifact: tuple[tuple[str, bytes], ...] = ()
    memory: int = 0


def run_job(job: Job, node: NodeFolders, name: str, devfix: str, attempts: int = 1) -> JobResult:
    """Run a job on the node of this name, and return how it ended; never raises because of what the job does.

    `devfix` is the version that is recorded, `attempts` how often the job was begun.
    """
    began, clock, steps = time.time(), time.monotonic(), _Steps()
    try:
        reading = _run(job, node, steps, clock + job.limits.seconds)
    except Ended as ended:
        reading = Reading(ended.outcome, one_line(ended.reason))
    except Exception as error:
        reading = Reading(JobOutcome.INTERNAL_ERROR, one_line(f"{type(error).__name__}: {error}"))
    python = steps.python
    record = replace(
        JobRecord.of(job, devfix, reading.outcome, reading.reason, attempts),
        findings=reading.findings,
        fixes=reading.fixes,
        began=began,
        seconds=round(time.monotonic() - clock, 3),
        clone_seconds=steps.seconds.get("clone", 0.0),
        environment_seconds=steps.seconds.get("environment", 0.0),
        run_seconds=steps.seconds.get("run", 0.0),
        memory=steps.memory,
        node=name,
        torch=reading.torch,
    )
    if python is not None:
        torch = python.torch or reading.torch
        record = replace(record, environment=python.digest, python=python.version, torch=torch)
    return JobResult(record, steps.artifact)


def _run(job: Job, node: NodeFolders, steps: _Steps, deadline: float) -> Reading:
    if job.sandbox and (why := why_no_sandbox()):
        advice = "sandbox = false in fleet.toml runs it with all rights of the worker"
        raise Ended(JobOutcome.INTERNAL_ERROR, f"the job cannot run in a sandbox: {why}; {advice}")
    with node.job(job.address) as folder:
        commands = Commands(job, folder, deadline)
        try:
            with steps.seconds.measure("clone"):
                _check_out(job, node, folder, commands)
            with steps.seconds.measure("environment"):
                steps.python = commands.environment()
            with steps.seconds.measure("run"):
                done = commands.program(steps.python)
        finally:
            steps.memory = commands.memory
        artifact = read_artifact(folder.artifact)
        reading = read_result(job, dict(artifact), done)
        steps.artifact = artifact
        return reading


def _check_out(job: Job, node: NodeFolders, folder: JobFolder, commands: Commands) -> None:
    disk = int(job.limits.disk * GIGABYTE)
    try:
        check_out_commit(job.address, job.ref, job.commit, node.clones, folder.repository, commands.seconds_left, disk)
    except CheckoutError as error:
        raise Ended(_CHECKOUT[error.limit], str(error)) from error
    if not (folder.repository / job.subfolder).is_dir():
        raise Ended(JobOutcome.NOTHING_TO_RUN, f"the repository has no folder {job.subfolder!r}")
