"""Repair what a search has found: one branch for each confirmed cause, with its regression test."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from devfix import pipeline
from devfix.find.records import Cause, FindReport
from devfix.model import Report, WorldChoice
from devfix.report.find_types import CauseFixRecord


def repair_causes(
    report: FindReport, python: str | None, rules: tuple[Any, ...], step: Callable[[str], None]
) -> dict[tuple[str, str, int, str], CauseFixRecord]:
    """Repair the confirmed causes that fail; return what came of each, by the cause's key."""
    found = {}
    causes = [cause for cause in report.causes if cause.confirmed and cause.failure is not None]
    for number, cause in enumerate(causes, 1):
        step(f"repairing finding {number} of {len(causes)}: {cause.place.path}:{cause.place.line}")
        done = pipeline.repair(
            report.root,
            pipeline.RepairOptions(
                run=command_for(cause),
                world=WorldChoice.SIMULATED,
                gpus=1 if "cuda:0" in cause.devices else 2,
                python=python,
                rules=rules,
            ),
        )
        found[cause.key] = _fix(done)
    return found


def command_for(cause: Cause) -> str:
    """Return the command that runs the first test of a cause, lifted."""
    test = cause.tests[0]
    collected = [word for word in cause.suite.options if word != "--doctest-ignore-import-errors"]
    return shlex.join(["pytest", "--lift", *cause.options, *collected, test])


def _fix(report: Report) -> CauseFixRecord:
    fixes = [repair.fix for repair in report.repairs if repair.fix]
    return CauseFixRecord(
        diff=report.diff,
        verdict=fixes[-1].verdict.outcome if fixes else report.outcome,
        branch=report.branch,
        commit=report.commits[0] if report.commits else "",
    )
