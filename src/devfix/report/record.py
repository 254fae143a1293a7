"""The record of a report, from which every format is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from devfix.model import DependencyFault, Edit, Fix, Others, Patch, RegressionTest, Repair, Report, RuleDecision, Run
from devfix.model.patch import VerdictOutcome
from devfix.report.diff import format_diff, split_cells
from devfix.report.failure_record import failure_record, place_members, world_record
from devfix.report.failure_types import PlaceRecord
from devfix.report.gpus_needed import gpus_record, gpus_sentence
from devfix.report.source_lines import Lines, after, no_lines
from devfix.report.types import (
    BeforeAfter,
    CopiesRecord,
    DependencyFaultRecord,
    DeviceMapRecord,
    EditRecord,
    ErrorRecord,
    FixRecord,
    LeftOutRecord,
    ModuleRecord,
    NotKeptRecord,
    OthersRecord,
    RegressionTestRecord,
    RemainingFailureRecord,
    ReportRecord,
    RuleRecord,
    RunRecord,
    TransferRecord,
    VerdictRecord,
)

TAIL = 8000  # characters of a program's output that a report keeps: enough for any traceback a person reads

OUTCOMES: Mapping[VerdictOutcome, str] = {
    "verified": "verified",
    "progressed": "reached a different failure",
    "same-failure": "the same failure occurred again",
    "regressed": "breaks what worked before",
    "behaviour-changed": "changed what the program prints or computes",
    "broken": "broke the program",
    "superseded": "verified, but another candidate was kept",
}
"""The outcomes of candidates, in words."""


def record(report: Report, lines: Lines = no_lines) -> ReportRecord:
    """Return the record "devfix-report/1" (schema.json) of a report.

    `lines(path, line)` gives a line of the source at `report.commit`, "" where it is not known; lines that an earlier
    fix of the report had changed are taken from that fix.
    """
    needed = gpus_record(report.gpus_needed) if report.gpus_needed else None
    return ReportRecord(
        outcome=report.outcome,
        world=world_record(report.world),
        command=report.command,
        until=report.until.options if report.until else (),
        subfolder=report.subfolder,
        commit=report.commit,
        failures=tuple(
            failure_record(repair.failure, repair.diagnoses, seen)
            for repair, seen in _with_lines(report.repairs, lines)
        ),
        fixes=_number_fixes(report, lambda repair: (repair.fix,) if repair.fix else ()),
        rejected=_number_fixes(report, lambda repair: repair.rejected),
        not_kept=tuple(_not_kept(report)),
        rules=tuple(_rule(index, each) for index, repair in enumerate(report.repairs) for each in repair.decisions),
        branch=report.branch,
        commits=report.commits,
        applied=report.applied,
        not_applied=report.not_applied,
        device_maps=tuple(_maps(report, lines)),
        diff=report.diff,
        seconds={name: round(value, 3) for name, value in report.seconds.items()},
        notes=(*((gpus_sentence(needed),) if needed else ()), *report.notes),
        last_run=_run(report.last_run) if report.last_run else None,
        others=_others(report.others) if report.others else None,
        remaining_failure=_remaining(report.remaining_failure) if report.remaining_failure else None,
        dependency_fault=_dependency_fault(report.dependency_fault) if report.dependency_fault else None,
        obstacle=report.obstacle,
        gpus_needed=needed,
    )


def failed_record(command: str, message: str, log: str = "") -> ReportRecord:
    """Return the record of a repair that could not be done: wrong usage, or a fault of devfix with its `log` file."""
    error = ErrorRecord(message=message, log=log)
    return ReportRecord(outcome="error", world=None, command=command, commit="", error=error)


def map_record(run: Run, lines: Lines) -> DeviceMapRecord:
    """Return the device map of a run; `lines` gives the source as for a report's record."""
    modules = (
        ModuleRecord(expression=each.expression, type=each.type, device=each.device, tensors=dict(each.tensors))
        for each in run.modules
    )
    transfers = (
        TransferRecord(**place_members(each.place, lines), direction=each.direction, count=each.count, bytes=each.bytes)
        for each in run.transfers
    )
    return DeviceMapRecord(modules=tuple(modules), transfers=tuple(transfers))


def _maps(report: Report, lines: Lines) -> Iterator[DeviceMapRecord]:
    """Yield the device maps, each with the source as its run saw it: without the fixes, then with them."""
    for run in report.mapped:
        yield map_record(run, lines)
        for repair in report.repairs:
            lines = after(lines, repair.fix.patch.edits) if repair.fix else lines


def _with_lines(repairs: Sequence[Repair], lines: Lines) -> Iterator[tuple[Repair, Lines]]:
    """Pair each repair with the source as its failure saw it, the fixes before it applied."""
    for repair in repairs:
        yield repair, lines
        if repair.fix:
            lines = after(lines, repair.fix.patch.edits)


def _not_kept(report: Report) -> Iterator[NotKeptRecord]:
    """Yield every candidate that was not kept, run or not, with the reason."""
    for index, repair in enumerate(report.repairs):
        for fix in repair.rejected:
            outcome, reason = OUTCOMES[fix.verdict.outcome], fix.verdict.reason
            yield _candidate(index, fix.patch, True, f"{outcome}: {reason}" if reason else outcome)
        for each in repair.untried:
            yield _candidate(index, each.patch, False, each.reason)


def _rule(failure: int, decision: RuleDecision) -> RuleRecord:
    return RuleRecord(
        failure=failure,
        rule=decision.rule,
        answer=decision.answer,
        reason=decision.reason,
        confidence=decision.confidence.word if decision.confidence else "",
        precedence=decision.precedence,
        no_changes=decision.no_changes,
    )


def _candidate(failure: int, patch: Patch, tried: bool, reason: str) -> NotKeptRecord:
    edit = next(split_cells(patch.edits[0]))
    return NotKeptRecord(
        failure=failure,
        rule=patch.rule,
        title=patch.title,
        path=edit.path,
        line=edit.line,
        tried=tried,
        reason=reason,
    )


def _number_fixes(report: Report, fixes: Callable[[Repair], Sequence[Fix]]) -> tuple[FixRecord, ...]:
    """Return the fixes of all repairs, each with the index of the failure that it answers."""
    return tuple(_fix(index, fix, repair) for index, repair in enumerate(report.repairs) for fix in fixes(repair))


def _fix(index: int, fix: Fix, repair: Repair) -> FixRecord:
    """Return a fix of a repair; the one that was kept has the test that guards it, or the reason why none does."""
    patch, verdict = fix.patch, fix.verdict
    test = repair.regression_test if fix is repair.fix else None
    return FixRecord(
        failure=index,
        rule=patch.rule,
        title=patch.title,
        reason=patch.reason,
        safety=patch.safety,
        edits=_edits(patch.edits),
        verdict=VerdictRecord(
            outcome=verdict.outcome,
            worlds=dict(verdict.worlds),
            before=dict(verdict.before),
            transfers=CopiesRecord(before=verdict.transfers_before, after=verdict.transfers_after),
            reason=verdict.reason,
            objections=verdict.objections,
            effects=verdict.effects,
        ),
        regression_test=_test(test) if test else None,
        no_test_reason=repair.no_test_reason if fix is repair.fix and test is None else "",
        similar_sites=_edits(fix.similar_sites),
    )


def _test(test: RegressionTest) -> RegressionTestRecord:
    """Return the part of a fix's record about the test of a fix."""
    return RegressionTestRecord(
        path=test.path,
        text=test.text,
        exercises=test.exercises,
        passes_after_fix=test.passes_after_fix,
        worlds={name: BeforeAfter(before=before, after=after) for name, (before, after) in test.worlds.items()},
    )


def _edits(edits: Iterable[Edit]) -> tuple[EditRecord, ...]:
    cells = (each for edit in edits for each in split_cells(edit))
    return tuple(EditRecord(path=each.path, line=each.line, diff=format_diff(each)) for each in cells)


def _dependency_fault(fault: DependencyFault) -> DependencyFaultRecord:
    return DependencyFaultRecord(
        distribution=fault.distribution,
        version=fault.version,
        path=fault.path,
        line=fault.line,
        reason=fault.reason,
        diff=fault.diff,
        pin=fault.pin,
        pin_edits=_edits(fault.pin_edits),
    )


def _others(others: Others) -> OthersRecord:
    left_out = tuple(LeftOutRecord(command=command, reason=reason) for command, reason in others.left_out)
    return OthersRecord(seconds=others.seconds, ran=others.ran, left_out=left_out)


def _remaining(run: Run) -> RemainingFailureRecord:
    """Return how a repaired program ends: in a failure of its own, which is there without a GPU too."""
    failure = run.failure
    at = failure.at if failure is not None else None
    return RemainingFailureRecord(
        exit_code=run.exit_code,
        exception=failure.exception if failure is not None else "",
        message=failure.message if failure is not None else (run.stderr.strip().splitlines() or [""])[-1][:TAIL],
        at=PlaceRecord(**place_members(at, no_lines)) if at else None,
        text=(run.stderr or run.stdout)[-TAIL:],
    )


def _run(run: Run) -> RunRecord:
    return RunRecord(
        outcome=run.outcome,
        exit_code=run.exit_code,
        signal=run.signal,
        seconds=round(run.seconds, 3),
        stdout=run.stdout[-TAIL:],
        stderr=run.stderr[-TAIL:],
        torch=run.torch,
        internal_errors=run.internal_errors,
        notes=run.notes,
        ended=run.ended,
    )
