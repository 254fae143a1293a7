"""Queries of a fleet's results with DuckDB.

What a repository says, such as a reason or a title, is in the tables that are queried, never in the text of a query;
nor can a query reach a file or the network.
"""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa

from devfix.decoding import convert
from devfix.fleet.results.arrow import PLAN, row_of, table_of
from devfix.fleet.results.reading import read_results
from devfix.fleet.results.store import ResultStore
from devfix.model import JobOutcome
from devfix.report.fleet_types import (
    FailureReasonRecord,
    FleetRecord,
    MemoryRecord,
    OutcomeCountRecord,
    RepositoryRecord,
    RuleCountRecord,
    StepSecondsRecord,
)

_SHOWN = 5  # repositories beside a reason
_VIEWS = """
CREATE VIEW jobs AS SELECT results.* FROM results SEMI JOIN plan USING (key);
CREATE VIEW findings AS SELECT unnest(findings, recursive := true) FROM jobs;
"""
_COUNTS = """
SELECT (SELECT count(*) FROM plan), (SELECT count(*) FROM plan ANTI JOIN results USING (key)),
       (SELECT count(*) FROM results ANTI JOIN plan USING (key)),
       (SELECT count(*) FROM findings), (SELECT count(*) FROM findings WHERE fixed)
"""
_OUTCOMES = "SELECT outcome, count(*) AS jobs FROM jobs GROUP BY outcome ORDER BY jobs DESC, outcome"
_RULES = """
SELECT rule, count(*) AS findings, count(*) FILTER (fixed) AS fixed, count(DISTINCT repository) AS repositories
FROM findings GROUP BY rule ORDER BY findings DESC, rule
"""
_REPOSITORIES = """
SELECT plan.key, plan.repository, plan.address, plan.commit, plan.mode, outcome,
       coalesce(reason, '') AS reason, coalesce(len(findings), 0) AS findings,
       coalesce(len(list_filter(findings, lambda each: each.fixed)), 0) AS fixed, coalesce(seconds, 0) AS seconds
FROM plan LEFT JOIN results USING (key)
ORDER BY fixed DESC, findings DESC, plan.repository, plan.key
"""
_FAILURES = """
SELECT outcome, reason, count(*) AS jobs,
       list_slice(list_sort(list(DISTINCT repository)), 1, $shown) AS repositories
FROM jobs WHERE list_contains($outcomes, outcome) GROUP BY outcome, reason ORDER BY jobs DESC, outcome, reason
"""
_SECONDS = """
SELECT step, count(*) AS jobs, sum(taken) AS total, quantile_cont(taken, 0.5) AS median,
       quantile_cont(taken, 0.9) AS p90, quantile_cont(taken, 0.99) AS p99, max(taken) AS longest
FROM (
    SELECT 1 AS place, 'clone' AS step, clone_seconds AS taken FROM jobs
    UNION ALL SELECT 2, 'environment', environment_seconds FROM jobs
    UNION ALL SELECT 3, 'run', run_seconds FROM jobs
    UNION ALL SELECT 4, 'job', seconds FROM jobs
) WHERE taken > 0 GROUP BY place, step ORDER BY place
"""
_MEMORY = """
SELECT count(*) AS jobs, quantile_disc(memory, 0.5) AS median, quantile_disc(memory, 0.9) AS p90, max(memory) AS largest
FROM jobs WHERE memory > 0 HAVING count(*) > 0
"""


class FleetQueries:
    """Answers questions about the latest plan of a fleet, and the results of its jobs at one moment."""

    def __init__(self, store: ResultStore) -> None:
        """Read the plan and the results."""
        plan = table_of((row_of(job) for job in store.plan()), PLAN)
        self._connection = duckdb.connect(
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "enable_external_access": "false",
                "python_enable_replacements": "false",
                "threads": "2",
            }
        )
        self._register("plan", plan)
        self._register("results", read_results(store.layout))
        self._connection.execute(_VIEWS)

    def summary(self) -> FleetRecord:
        """Return everything that is shown of a fleet."""
        planned, pending, unplanned, findings, fixed = next(iter(self._connection.execute(_COUNTS).fetchall()))
        return FleetRecord(
            planned=planned,
            pending=pending,
            unplanned=unplanned,
            outcomes=self.outcomes(),
            findings=findings,
            fixed=fixed,
            rules=self.rules(),
            repositories=self.repositories(),
            failures=self.failures(),
            seconds=self.seconds(),
            memory=self.memory(),
        )

    def outcomes(self) -> tuple[OutcomeCountRecord, ...]:
        """Return how many jobs ended in each way, the most frequent first."""
        rows = self._rows(_OUTCOMES)
        return tuple(
            convert({**row, "is_failure": JobOutcome(row["outcome"]).is_failure}, OutcomeCountRecord) for row in rows
        )

    def rules(self) -> tuple[RuleCountRecord, ...]:
        """Return the findings by rule, the most frequent first."""
        return tuple(convert(row, RuleCountRecord) for row in self._rows(_RULES))

    def repositories(self) -> tuple[RepositoryRecord, ...]:
        """Return every planned job, those with the most fixes first."""
        return tuple(convert(row, RepositoryRecord) for row in self._rows(_REPOSITORIES))

    def failures(self) -> tuple[FailureReasonRecord, ...]:
        """Return why jobs say nothing about devices, the most frequent reason first."""
        outcomes = [each.value for each in JobOutcome if each.is_failure]
        rows = self._rows(_FAILURES, outcomes=outcomes, shown=_SHOWN)
        return tuple(convert(row, FailureReasonRecord) for row in rows)

    def seconds(self) -> tuple[StepSecondsRecord, ...]:
        """Return the time of each step."""
        return tuple(convert(row, StepSecondsRecord) for row in self._rows(_SECONDS))

    def memory(self) -> MemoryRecord | None:
        """Return the peak memory of the jobs; None if it is known of none."""
        return next((convert(row, MemoryRecord) for row in self._rows(_MEMORY)), None)

    def _register(self, name: str, table: pa.Table) -> None:
        self._connection.register(name, table)

    def _rows(self, query: str, **values: object) -> list[dict[str, Any]]:
        done = self._connection.execute(query, values or None)
        names = [each[0] for each in done.description or ()]
        return [dict(zip(names, row, strict=True)) for row in done.fetchall()]
