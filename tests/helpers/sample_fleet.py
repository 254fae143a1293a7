"""The state of a fleet with something in every part of its page."""

from __future__ import annotations

from full_pages import full_report, hostile

from devfix.model import JobMode, JobOutcome
from devfix.report.fleet_types import (
    FailureReasonRecord,
    FleetRecord,
    MemoryRecord,
    OutcomeCountRecord,
    RepositoryRecord,
    RuleCountRecord,
    StepSecondsRecord,
)
from devfix.report.render.html.fleet import RepositoryFixes, fleet_page


def fleet_record() -> FleetRecord:
    """Return the state."""
    return FleetRecord(
        planned=48,
        pending=2,
        unplanned=3,
        outcomes=(
            OutcomeCountRecord(outcome=JobOutcome.CLEAN, jobs=30),
            OutcomeCountRecord(outcome=JobOutcome.ENVIRONMENT_FAILED, jobs=9, is_failure=True),
            OutcomeCountRecord(outcome=JobOutcome.REPAIRED, jobs=6),
            OutcomeCountRecord(outcome=JobOutcome.FOUND, jobs=1),
        ),
        findings=12,
        fixed=9,
        rules=(
            RuleCountRecord(rule="placement/input-not-moved", findings=8, fixed=8, repositories=5),
            RuleCountRecord(rule="", findings=4, fixed=1, repositories=2),
        ),
        repositories=(
            _repository("ada/model", JobOutcome.REPAIRED, findings=2, fixed=2, seconds=74.0),
            _repository(
                "grace/segmentation", JobOutcome.PARTIAL, findings=3, fixed=1, seconds=310.0, reason="one remains"
            ),
            _repository("mary/tokens", JobOutcome.FOUND, mode=JobMode.FIND, findings=4, seconds=61.0),
            _repository(
                "emmy/rings", JobOutcome.ENVIRONMENT_FAILED, seconds=9.0, reason="no release of torch fits torch<1.9"
            ),
            _repository("sofia/tops", None),
        ),
        failures=(
            FailureReasonRecord(
                outcome=JobOutcome.ENVIRONMENT_FAILED,
                reason="no release of torch fits torch<1.9",
                jobs=9,
                repositories=("emmy/rings", "hedy/hops"),
            ),
        ),
        seconds=(
            StepSecondsRecord(step="clone", jobs=46, total=90, median=1.5, p90=3, p99=8, longest=9),
            StepSecondsRecord(step="job", jobs=46, total=3700, median=62, p90=120, p99=300, longest=310),
        ),
        memory=MemoryRecord(jobs=46, median=812_000_000, p90=1_900_000_000, largest=3_700_000_000),
    )


def sample_page(evil: bool = False) -> str:
    """Return the page, in which every string is hostile where asked for."""
    data, report = (hostile(fleet_record()), hostile(full_report())) if evil else (fleet_record(), full_report())
    keys = [each.key for each in data.repositories]
    problem = "patches/x is not a regular file; the artifact is rejected"
    return fleet_page(data, {keys[0]: RepositoryFixes(report.fixes), keys[1]: RepositoryFixes(problem=problem)})


def _repository(name: str, outcome: JobOutcome | None, **values: object) -> RepositoryRecord:
    given = {"mode": JobMode.REPAIR, "address": f"https://example.org/{name}"} | values
    return RepositoryRecord(key=name.replace("/", ""), repository=name, commit="c0ffee" * 7, outcome=outcome, **given)  # type: ignore[arg-type]
