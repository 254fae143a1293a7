"""Run a fleet: the jobs of its plan that have no result yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from devfix.fleet.cluster import RunOptions, connect
from devfix.fleet.progress import FleetProgress
from devfix.fleet.records import Job
from devfix.fleet.results import ResultStore
from devfix.model import JobOutcome


@dataclass(frozen=True)
class FleetRun:
    """The result of a run of a fleet: the outcomes of all jobs of its plan, and how many of them were run this time."""

    outcomes: Mapping[str, JobOutcome]
    ran: int

    @property
    def counts(self) -> Mapping[JobOutcome, int]:
        """The number of jobs by outcome, the most frequent first."""
        return dict(Counter(self.outcomes.values()).most_common())

    @property
    def is_well(self) -> bool:
        """True if nothing remains to be done: every program runs clean, or is repaired."""
        return all(each in (JobOutcome.REPAIRED, JobOutcome.CLEAN) for each in self.outcomes.values())


def jobs_to_run(jobs: Sequence[Job], ended: Mapping[str, JobOutcome], again: Collection[JobOutcome]) -> list[Job]:
    """Return the jobs without a result, and those whose outcome may be another one next time, or is in `again`."""
    return [job for job in jobs if (end := ended.get(job.key)) is None or end.is_passing or end in again]


def run_fleet(
    jobs: Sequence[Job],
    store: ResultStore,
    progress: FleetProgress,
    options: RunOptions,
    address: str = "",
    again: Collection[JobOutcome] = (),
) -> FleetRun:
    """Run the jobs of a plan that have no result, and keep their results; return how all jobs of the plan ended.

    `address` is that of a Ray cluster; "" starts Ray on this machine. Raises UserError if no cluster can be had.
    """
    store.write_plan(jobs)
    ended = store.outcomes()
    todo = jobs_to_run(jobs, ended, again)
    outcomes = {job.key: ended[job.key] for job in jobs if job.key in ended}
    if todo:
        outcomes.update(_run(todo, len(jobs) - len(todo), store, progress, options, address))
    return FleetRun(outcomes, len(todo))


def _run(
    todo: Sequence[Job], earlier: int, store: ResultStore, progress: FleetProgress, options: RunOptions, address: str
) -> Iterator[tuple[str, JobOutcome]]:
    with connect(address, None, progress.say) as cluster:
        from devfix.fleet.cluster.submission import run_jobs  # imports Ray, which reads its variables then

        cluster.check_versions(options.version)
        cluster.check_sizes(todo)
        progress.plan(todo, earlier, cluster.cores, cluster.dashboard)
        for record in run_jobs(todo, cluster, store, progress, options):
            yield record.key, record.outcome
