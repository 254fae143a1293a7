"""Repair what a search has found: one branch for all confirmed causes or one for each, with regression tests."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from devfix import pipeline
from devfix.cli.branches import Branches
from devfix.find import Cause, FindReport
from devfix.find.suites import is_test_file
from devfix.model import Report, WorldChoice
from devfix.report.find_types import CauseFixRecord
from devfix.workspace import Repository

_NAME = "devfix/find"
Key = tuple[str, str, int, str]


@dataclass(frozen=True)
class RepairPlan:
    """The settings of the repair of causes; `until` is the moment from which no further one is begun."""

    branches: Branches
    python: str | None
    rules: tuple[Path, ...]
    until: float


def repair_causes(
    report: FindReport | None, plan: RepairPlan, step: Callable[[str], None]
) -> tuple[dict[Key, CauseFixRecord], list[Report]]:
    """Repair the confirmed causes of a search that came to its end; return what came of each, by its key, and reports.

    On one branch each repair starts from the fixes before it: it is verified together with them.
    """
    found: dict[Key, CauseFixRecord] = {}
    reports: list[Report] = []
    if report is None or report.interrupted:
        return found, reports
    repository = Repository.open(Path(report.root))
    tests = tuple(sorted(path for path in repository.tracked() if is_test_file(path)))
    causes = [cause for cause in report.causes if cause.confirmed]
    tip, kept = report.commit, ""
    for number, cause in enumerate(causes, 1):
        if time.monotonic() > plan.until:
            step(f"the budget is over: {len(causes) - number + 1} findings are not repaired; --budget gives more")
            break
        step(f"repairing finding {number} of {len(causes)}: {cause.place.path}:{cause.place.line}")
        done = pipeline.repair(
            report.root,
            pipeline.RepairOptions(
                run=command_for(cause),
                world=WorldChoice.SIMULATED,
                gpus=1 if "cuda:0" in cause.devices else 2,
                python=plan.python,
                rules=plan.rules,
                exclude=tests,
                commit=tip,
            ),
        )
        found[cause.key] = _fix(done, kept)
        reports.append(done)
        if plan.branches is Branches.one and done.commits:
            if kept:
                repository.delete_branch(kept)
            tip, kept = done.commits[-1], done.branch
    if kept:
        name = repository.rename_branch(kept, _NAME)
        found = {key: _on(fix, name) for key, fix in found.items()}
    return found, reports


def _on(fix: CauseFixRecord, name: str) -> CauseFixRecord:
    """Return a fix with the name of the one branch."""
    return CauseFixRecord(diff=fix.diff, verdict=fix.verdict, branch=name if fix.branch else "", commit=fix.commit)


def command_for(cause: Cause) -> str:
    """Return the command that runs the first test of a cause, lifted."""
    collected = [word for word in cause.suite.options if word != "--doctest-ignore-import-errors"]
    return shlex.join(["pytest", "--lift", *cause.options, *collected, cause.tests[0]])


def _fix(report: Report, before: str) -> CauseFixRecord:
    """Return what came of a repair; where the fixes of the branch `before` leave nothing to repair, they hold."""
    fixes = [repair.fix for repair in report.repairs if repair.fix]
    if not fixes and before and report.outcome == "clean":
        return CauseFixRecord(diff="", verdict="verified", branch=before, commit=report.commit)
    return CauseFixRecord(
        diff=report.diff,
        verdict=fixes[-1].verdict.outcome if fixes else report.outcome,
        branch=report.branch,
        commit=report.commits[0] if report.commits else "",
    )
