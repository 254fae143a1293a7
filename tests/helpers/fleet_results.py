"""Results of a fleet that never ran."""

from __future__ import annotations

import hashlib
from typing import Any

from devfix.fleet.records import FindingRecord, Job, JobRecord, JobResult
from devfix.model import JobMode, JobOutcome


def job(number: int, **changes: Any) -> Job:
    """Return a job for the repository of this number."""
    name = changes.pop("repository", f"ada/model-{number}")
    key = hashlib.sha256(f"{name} {number} {sorted(changes.items())}".encode()).hexdigest()
    return Job(**{"key": key, "repository": name, "address": f"https://example.org/{name}", "ref": "main"}
               | {"commit": f"{number:040x}"} | changes)  # fmt: skip


def finding(of: Job, number: int = 1, **changes: Any) -> FindingRecord:
    """Return a finding of a job."""
    values = {"kind": "raises", "rule": "placement/new-tensor", "title": "A new tensor stays on the CPU"}
    values |= {"path": "model/train.py", "line": 12, "fixed": True} | changes
    return FindingRecord(key=of.key, number=number, repository=of.repository, **values)


def record(of: Job, outcome: JobOutcome = JobOutcome.REPAIRED, **changes: Any) -> JobRecord:
    """Return the record of a job."""
    values: dict[str, Any] = {"key": of.key, "repository": of.repository, "address": of.address, "ref": of.ref}
    values |= {"commit": of.commit, "mode": JobMode(of.mode), "devfix": "0.1.0", "outcome": outcome, "began": 1.8e9}
    values |= {"seconds": 60.0, "clone_seconds": 2.0, "environment_seconds": 18.0, "run_seconds": 40.0}
    return JobRecord(**values | changes)


def result(of: Job, outcome: JobOutcome = JobOutcome.REPAIRED, **changes: Any) -> JobResult:
    """Return the result of a job, with an artifact of one file if it has a fix."""
    artifact = changes.pop("artifact", (("summary.md", b"A summary\n"),) if changes.get("fixes") else ())
    return JobResult(record(of, outcome, **changes), artifact)
