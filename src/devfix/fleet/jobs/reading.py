"""Read what a job found from the report in its artifact, which the program under repair may have written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from devfix.errors import UserError
from devfix.fleet.jobs.ending import Ended
from devfix.fleet.records import FindingRecord, Job
from devfix.model import JobMode, JobOutcome, Outcome
from devfix.process import Completed
from devfix.report.find_types import CauseKind, CauseRecord, FindRecord
from devfix.report.plain import one_line
from devfix.report.render.machine_readable.json import read, read_search
from devfix.report.types import ReportRecord

_MOST = 200  # findings of one job
_OUTCOMES = {
    "repaired": JobOutcome.REPAIRED,
    "partial": JobOutcome.PARTIAL,
    "unrepaired": JobOutcome.NOT_REPAIRED,
    "dependency-fault": JobOutcome.NOT_REPAIRED,
    "clean": JobOutcome.CLEAN,
}


@dataclass(frozen=True)
class Reading:
    """The findings of a job: its outcome and the reason in one line, its findings, and how many fixes there are."""

    outcome: JobOutcome
    reason: str
    findings: tuple[FindingRecord, ...] = ()
    fixes: int = 0
    torch: str = ""


def read_result(job: Job, files: Mapping[str, bytes], done: Completed) -> Reading:
    """Return what a job found; raise Ended if there is no report, or none that can be read."""
    name = "find.json" if job.mode is JobMode.FIND else "report.json"
    if name not in files:
        raise _without_report(done)
    text = files[name].decode("utf-8", "replace")
    try:
        if job.mode is JobMode.FIND:
            found = read_search(text)
            if found is None:
                raise Ended(JobOutcome.ARTIFACT_REJECTED, f"{name} is not the report of a search")
            return _of_search(job, found)
        return _of_repair(job, read(text))
    except UserError as error:
        raise Ended(JobOutcome.ARTIFACT_REJECTED, one_line(f"{name}: {error}")) from error


def _of_repair(job: Job, data: ReportRecord) -> Reading:
    fixes = {fix.failure: fix for fix in data.fixes}
    findings = []
    for index, failure in enumerate(data.failures[:_MOST]):
        fix, blamed = fixes.get(index), next(iter(failure.findings), None)
        rule = fix.rule if fix else blamed.rule if blamed else ""
        title = fix.title if fix else blamed.title if blamed else f"{failure.exception}: {failure.message}"
        at = (failure.at.path, failure.at.line) if failure.at else ("", 0)
        findings.append(_finding(job, index + 1, "raises", rule, title, at, fix is not None))
    torch = data.last_run.torch if data.last_run else ""
    has_fault = bool(data.failures) or data.dependency_fault is not None
    is_other = data.outcome == "unrepaired" and not has_fault  # it fails, but not by a device
    outcome = _of_failed_program(data) if is_other or data.outcome == "error" else _OUTCOMES[data.outcome]
    return Reading(outcome, _why(data, outcome), tuple(findings), len(data.fixes), one_line(torch, 100))


def _of_failed_program(data: ReportRecord) -> JobOutcome:
    if data.error is not None:
        return JobOutcome.INTERNAL_ERROR if data.error.log else JobOutcome.NOTHING_TO_RUN
    is_late = data.last_run is not None and data.last_run.outcome is Outcome.TIMEOUT
    return JobOutcome.TIMED_OUT if is_late else JobOutcome.PROGRAM_FAILED


def _why(data: ReportRecord, outcome: JobOutcome) -> str:
    if outcome in (JobOutcome.REPAIRED, JobOutcome.CLEAN):
        return ""
    if data.error is not None:
        return one_line(data.error.message)
    if outcome in (JobOutcome.PARTIAL, JobOutcome.NOT_REPAIRED):
        fixed = {fix.failure for fix in data.fixes}
        open_ones = [failure for index, failure in enumerate(data.failures) if index not in fixed]
        last = open_ones[-1] if open_ones else None
        fault = f"the fault is in {data.dependency_fault.distribution}" if data.dependency_fault else ""
        return one_line(fault or (f"{last.exception}: {last.message}" if last else ""))
    run = data.last_run
    if run is None:
        return one_line("; ".join(data.notes))
    if run.outcome is Outcome.TIMEOUT:
        return "a run of the program did not end in its time limit"
    said = [line for line in (*run.stderr.splitlines(), *run.internal_errors) if line.strip()]
    return one_line(said[-1] if said else f"it ended with {run.signal or run.exit_code}")


def _of_search(job: Job, data: FindRecord) -> Reading:
    findings = tuple(_of_cause(job, number, cause) for number, cause in enumerate(data.findings[:_MOST], 1))
    fixes = sum(each.fixed for each in findings)
    if not data.findings:
        has_run = bool(data.tests)
        reason = "" if has_run else one_line("; ".join(data.notes) or "no test passed or failed on the CPU")
        return Reading(JobOutcome.CLEAN if has_run else JobOutcome.NOTHING_TO_RUN, reason)
    outcome = JobOutcome.FOUND if not fixes else JobOutcome.REPAIRED if fixes == len(findings) else JobOutcome.PARTIAL
    return Reading(outcome, "", findings, fixes)


def _of_cause(job: Job, number: int, cause: CauseRecord) -> FindingRecord:
    is_fixed = cause.fix is not None and bool(cause.fix.commit)
    return _finding(job, number, cause.kind, cause.rule, cause.title, (cause.path, cause.line), is_fixed)


def _finding(
    job: Job, number: int, kind: CauseKind, rule: str, title: str, at: tuple[str, int], is_fixed: bool
) -> FindingRecord:
    path, rule, title = one_line(at[0], 500), one_line(rule, 100), one_line(title)
    return FindingRecord(job.key, number, job.repository, kind, rule, title, path, at[1], is_fixed)


def _without_report(done: Completed) -> Ended:
    """Return why a command wrote no report: wrong usage, such as a program that is not there, or an error."""
    try:
        error = read(done.stdout).error
    except UserError:
        error = None
    if error is not None and not error.log:
        return Ended(JobOutcome.NOTHING_TO_RUN, one_line(error.message))
    said = [line for line in done.stderr.splitlines() if line.strip()]
    reason = error.message if error else said[-1] if said else _how_it_ended(done)
    return Ended(JobOutcome.INTERNAL_ERROR, one_line(reason))


def _how_it_ended(done: Completed) -> str:
    return done.internal_error or f"devfix ended with {done.signal or done.exit_code} and wrote no report"
