"""A search's report as a record: what `--format json` prints, and from what the other formats are made."""

from __future__ import annotations

from collections.abc import Mapping

from devfix.find.records import Cause, FindReport
from devfix.report.failure_record import failure_record
from devfix.report.find_types import CauseFixRecord, CauseRecord, EvidenceRecord, FindRecord, LineRecord, ReasonRecord
from devfix.report.source_lines import Lines, no_lines
from devfix.report.types import ErrorRecord

Fixes = Mapping[tuple[str, str, int, str], CauseFixRecord]


def find_record(
    report: FindReport, lines: Lines, fixes: Fixes | None = None, error: ErrorRecord | None = None
) -> FindRecord:
    """Return the record of a search; `lines` gives the source lines that it quotes.

    `fixes` has the results of the causes that were repaired, `error` why there was no search.
    """
    return FindRecord(
        root=report.root,
        commit=report.commit,
        tests=report.tests,
        passed_cpu=report.passed_cpu,
        passed_lifted=report.passed_lifted,
        passed_on_gpu_alone=report.passed_on_gpu_alone,
        skipped=report.skipped,
        artefacts=tuple(ReasonRecord(test=test, reason=reason) for test, reason in report.artefacts.items()),
        failed_cpu=tuple(report.failed_cpu),
        failed_lifted=tuple(ReasonRecord(test=test, reason=reason) for test, reason in report.failed_lifted.items()),
        left_out=tuple(ReasonRecord(test=path, reason=reason) for path, reason in report.left_out.items()),
        missing=tuple(report.missing),
        seconds=dict(report.seconds),
        processor_seconds=dict(report.processor_seconds),
        interrupted=report.interrupted,
        notes=tuple(report.notes),
        findings=tuple(_cause(cause, lines, fixes or {}) for cause in report.causes),
        known=tuple(_cause(cause, lines, {}) for cause in report.known),
        error=error,
    )


def failed_search(message: str, log: str = "") -> FindRecord:
    """Return the record of a search that could not be made: wrong usage, or a fault of devfix with its `log` file."""
    return find_record(FindReport("", ""), no_lines, error=ErrorRecord(message=message, log=log))


def _cause(cause: Cause, lines: Lines, fixes: Fixes) -> CauseRecord:
    return CauseRecord(
        kind=cause.kind,
        path=cause.place.path,
        line=cause.place.line,
        function=cause.place.function,
        source=lines(cause.place.path, cause.place.line).strip(),
        failing=LineRecord(path=cause.failing.path, line=cause.failing.line),
        rule=cause.rule,
        title=cause.title,
        confidence=cause.confidence,
        confirmed=cause.confirmed,
        tests=tuple(cause.tests),
        devices=tuple(cause.devices),
        failure=failure_record(cause.failure, cause.diagnoses, lines) if cause.failure is not None else None,
        evidence=_evidence(cause),
        options=cause.options,
        fix=fixes.get(cause.key),
    )


def _evidence(cause: Cause) -> EvidenceRecord | None:
    evidence = cause.evidence
    if evidence is None:
        return None
    return EvidenceRecord(
        call=evidence.call,
        entered=LineRecord(path=evidence.entered.path, line=evidence.entered.line),
        created=LineRecord(path=cause.place.path, line=cause.place.line),
        attribute=evidence.attribute,
        is_told=evidence.is_told,
    )
