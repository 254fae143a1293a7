"""Submit jobs to Ray, a bounded number at once, and collect their results."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import ray
from ray.exceptions import (
    LocalRayletDiedError,
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    RayError,
    RayTaskError,
    WorkerCrashedError,
)

from devfix.fleet.cluster.connection import Cluster
from devfix.fleet.cluster.options import RunOptions
from devfix.fleet.cluster.tasks import run_on_node
from devfix.fleet.progress import FleetProgress
from devfix.fleet.records import Job, JobRecord, JobResult
from devfix.model import JobOutcome
from devfix.report.plain import one_line

_LOOK = 1.0  # seconds of one wait for a result
_REFRESH = 5.0  # seconds after which the cores of a cluster, which may grow, are counted again
_CANCEL = 30.0  # seconds for cancelled jobs to end
_DIED = (WorkerCrashedError, NodeDiedError, LocalRayletDiedError, ObjectLostError)


class ResultSink(Protocol):
    """Keeps results; the results folder is one."""

    def add(self, result: JobResult) -> JobRecord:
        """Keep a result, and return the record that is kept; when this returns, it is safe."""


def run_jobs(
    jobs: Sequence[Job],
    cluster: Cluster,
    results: ResultSink,
    progress: FleetProgress,
    options: RunOptions,
    task: Any = run_on_node,
) -> Iterator[JobRecord]:
    """Run jobs, and yield the record of each when its result is kept.

    Ray knows only as many jobs as keep the cluster busy. If this is closed or interrupted, the jobs that run are
    cancelled: they have no result, and are run by the next run. `task` is what Ray runs for each job.
    """
    submission = _Submission(jobs, cluster, progress, options, task)
    try:
        for result in submission.results():
            record = results.add(result)
            progress.end(record)
            yield record
    finally:
        submission.cancel()
        cluster.sweep()


@dataclass(frozen=True)
class _Begun:
    job: Job
    attempts: int
    began: float


class _Submission:
    """The jobs that wait, and those that Ray has."""

    def __init__(
        self, jobs: Sequence[Job], cluster: Cluster, progress: FleetProgress, options: RunOptions, task: Any
    ) -> None:
        self._waiting = deque((job, 1) for job in jobs)
        self._running: dict[Any, _Begun] = {}
        self._cluster, self._progress, self._options, self._run = cluster, progress, options, task
        self._least = min((job.limits.cores for job in jobs), default=1.0)
        self._most, self._counted = 0, -math.inf

    def results(self) -> Iterator[JobResult]:
        """Yield the result of each job, in the order in which they end."""
        while self._waiting or self._running:
            while self._waiting and len(self._running) < self._limit():
                self._submit(*self._waiting.popleft())
            ready, _ = ray.wait(list(self._running), num_returns=1, timeout=_LOOK)
            if ready:  # and all others that have ended meanwhile
                ready, _ = ray.wait(list(self._running), num_returns=len(self._running), timeout=0)
            for reference in ready:
                result = self._collect(reference)
                if result is not None:
                    yield result

    def cancel(self) -> None:
        """End the jobs that Ray has, with their processes."""
        references = list(self._running)
        for reference in references:
            ray.cancel(reference, force=True)
        if references:
            ray.wait(references, num_returns=len(references), timeout=_CANCEL, fetch_local=False)
        self._running.clear()

    def _limit(self) -> int:
        """Return how many jobs Ray may have: those that can run, and as many that are ready to follow them."""
        if self._options.at_once is not None:
            return self._options.at_once
        if time.monotonic() - self._counted > _REFRESH:
            self._most, self._counted = 2 * math.ceil(self._cluster.cores / self._least) + 2, time.monotonic()
        return self._most

    def _submit(self, job: Job, attempts: int) -> None:
        limits = job.limits
        task = self._run.options(num_cpus=limits.cores, memory=int(limits.memory * 1e9), name=job.repository[:100])
        reference = task.remote(job, self._options.version, attempts)
        self._running[reference] = _Begun(job, attempts, time.time())
        if attempts == 1:
            self._progress.start(job)

    def _collect(self, reference: Any) -> JobResult | None:
        """Return the result of a task that has ended; None if its job is to be run again."""
        begun = self._running[reference]
        try:
            result: JobResult = ray.get(reference)
        except _DIED as error:
            del self._running[reference]
            if begun.attempts <= self._options.retries:
                self._waiting.appendleft((begun.job, begun.attempts + 1))
                return None
            times = f"{begun.attempts} times" if begun.attempts > 1 else "once"
            return self._without(begun, JobOutcome.LOST, f"its node or worker died {times} ({_last_line(error)})")
        except OutOfMemoryError as error:
            del self._running[reference]
            return self._without(begun, JobOutcome.OUT_OF_MEMORY, f"Ray ended it for memory ({_last_line(error)})")
        except (RayTaskError, RayError) as error:
            del self._running[reference]
            return self._without(begun, JobOutcome.INTERNAL_ERROR, _last_line(error))
        del self._running[reference]
        return result

    def _without(self, begun: _Begun, outcome: JobOutcome, reason: str) -> JobResult:
        """Return the result of a job that a worker could not give."""
        job, seconds = begun.job, round(time.time() - begun.began, 3)
        record = JobRecord.of(job, self._options.version, outcome, reason, begun.attempts)
        record = replace(record, began=begun.began, seconds=max(0.0, seconds))
        return JobResult(record)


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return one_line(lines[-1] if lines else type(error).__name__, 200)
