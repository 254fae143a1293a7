"""A search's report as a record: what `--format json` prints, and from what the other formats are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devfix.find.records import Cause, FindReport
from devfix.report.render.failure import failure_record
from devfix.report.render.source_lines import Lines

Fixes = Mapping[tuple[str, str, int, str], dict[str, Any]]
SCHEMA = "devfix-find/1"


def find_record(report: FindReport, lines: Lines, fixes: Fixes | None = None) -> dict[str, Any]:
    """Return the report as a JSON object; `lines` gives the source lines that it quotes.

    `fixes` has what came of the causes that were repaired.
    """
    return {
        "schema": SCHEMA,
        "root": report.root,
        "commit": report.commit,
        "tests": report.tests,
        "passed_cpu": report.passed_cpu,
        "passed_lifted": report.passed_lifted,
        "skipped": report.skipped,
        "artefacts": [{"test": test, "reason": reason} for test, reason in report.artefacts.items()],
        "failed_cpu": list(report.failed_cpu),
        "failed_lifted": [{"test": test, "reason": reason} for test, reason in report.failed_lifted.items()],
        "missing": list(report.missing),
        "seconds": dict(report.seconds),
        "interrupted": report.interrupted,
        "notes": list(report.notes),
        "findings": [_finding(cause, lines, fixes or {}) for cause in report.causes],
        "known": [_finding(cause, lines, {}) for cause in report.known],
    }


def _finding(cause: Cause, lines: Lines, fixes: Fixes) -> dict[str, Any]:
    told = {"fix": fixes[cause.key]} if cause.key in fixes else {}
    return {
        **told,
        "kind": cause.kind,
        "path": cause.place.path,
        "line": cause.place.line,
        "function": cause.place.function,
        "source": lines(cause.place.path, cause.place.line).strip(),
        "failing": {"path": cause.failing.path, "line": cause.failing.line},
        "rule": cause.rule,
        "title": cause.title,
        "confidence": cause.confidence.value,
        "confirmed": cause.confirmed,
        "tests": list(cause.tests),
        "devices": list(cause.devices),
        "failure": failure_record(cause.failure, cause.diagnoses, lines) if cause.failure is not None else None,
    }
