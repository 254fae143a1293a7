"""The plain record of a report, from which every format is made: dicts, lists, strings and numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from devfix.model import DependencyFault, Fix, Others, Patch, Repair, Report, Run
from devfix.report.diff import unified
from devfix.report.render.failure import failure_record
from devfix.report.render.fix import OUTCOMES
from devfix.report.render.gpus import gpus_record, gpus_sentence
from devfix.report.render.obstacle import obstacle_record
from devfix.report.render.regression_test import guard_record
from devfix.report.render.source_lines import Lines, after, no_lines

SCHEMA = "devfix-report/1"
TAIL = 8000  # characters of a program's output that a report keeps: enough for any traceback a person reads


def record(report: Report, lines: Lines = no_lines) -> dict[str, Any]:
    """Return the record "devfix-report/1" (schema.json) of a report.

    `lines(path, line)` gives a line of the source at `report.commit`, "" where it is not known; lines that an earlier
    fix of the report had changed are taken from that fix.
    """
    return {
        "schema": SCHEMA,
        "outcome": report.outcome,
        "world": {"kind": report.world.kind, "gpus": report.world.gpus, "current": report.world.current},
        "command": report.command,
        "subfolder": report.subfolder,
        "commit": report.commit,
        "failures": [
            failure_record(repair.failure, repair.diagnoses, seen)
            for repair, seen in _with_lines(report.repairs, lines)
        ],
        "fixes": _numbered(report, lambda repair: (repair.fix,) if repair.fix else ()),
        "dropped": _numbered(report, lambda repair: repair.rejected),
        "rejected": list(_rejected(report)),
        "branch": report.branch,
        "commits": list(report.commits),
        "diff": report.diff,
        "seconds": {name: round(value, 3) for name, value in report.seconds.items()},
        "notes": [*_first_notes(report), *report.notes],
        "last_run": _run(report.last_run) if report.last_run else None,
        **({"others": _others(report.others)} if report.others else {}),
        **({"behind": _behind(report.behind)} if report.behind else {}),
        **({"foreign": _foreign(report.dependency_fault)} if report.dependency_fault else {}),
        **({"obstacle": obstacle_record(report.obstacle)} if report.obstacle else {}),
        **({"gpus_needed": gpus_record(report.gpus_needed)} if report.gpus_needed else {}),
    }


def _first_notes(report: Report) -> Iterator[str]:
    if report.gpus_needed:
        yield gpus_sentence(gpus_record(report.gpus_needed))


def failed(command: str, message: str, log: str = "") -> dict[str, Any]:
    """Return the record of a repair that could not be done: wrong usage, or a fault of devfix with its `log` file."""
    return {
        "schema": SCHEMA,
        "outcome": "error",
        "world": None,
        "command": command,
        "commit": "",
        "failures": [],
        "fixes": [],
        "dropped": [],
        "rejected": [],
        "branch": "",
        "commits": [],
        "diff": "",
        "seconds": {},
        "notes": [],
        "last_run": None,
        "error": {"message": message, "log": log},
    }


def _with_lines(repairs: Sequence[Repair], lines: Lines) -> Iterator[tuple[Repair, Lines]]:
    """Pair each repair with the source as its failure saw it, the fixes before it applied."""
    for repair in repairs:
        yield repair, lines
        if repair.fix:
            lines = after(lines, repair.fix.patch.edits)


def _rejected(report: Report) -> Iterator[dict[str, Any]]:
    """Yield every candidate that was not kept, run or not, with the reason."""
    for index, repair in enumerate(report.repairs):
        for fix in repair.rejected:
            told = OUTCOMES[fix.verdict.outcome]
            reason = fix.verdict.reason
            yield _candidate(index, fix.patch, True, f"{told}: {reason}" if reason else told)
        for each in repair.untried:
            yield _candidate(index, each.patch, False, each.reason)


def _candidate(failure: int, patch: Patch, tried: bool, reason: str) -> dict[str, Any]:
    edit = patch.edits[0]
    said = {"failure": failure, "rule": patch.rule, "title": patch.title, "path": edit.path, "line": edit.line}
    return {**said, "tried": tried, "reason": reason}


def _numbered(report: Report, fixes: Callable[[Repair], Sequence[Fix]]) -> list[dict[str, Any]]:
    """Return the fixes of all repairs, each with the index of the failure that it answers."""
    return [
        {"failure": index, **_fix(fix), **(guard_record(repair) if fix is repair.fix else {})}
        for index, repair in enumerate(report.repairs)
        for fix in fixes(repair)
    ]


def _fix(fix: Fix) -> dict[str, Any]:
    patch, verdict = fix.patch, fix.verdict
    return {
        "rule": patch.rule,
        "title": patch.title,
        "because": patch.reason,
        "safety": patch.safety,
        "edits": [{"path": edit.path, "line": edit.line, "diff": unified(edit)} for edit in patch.edits],
        "verdict": {
            "outcome": verdict.outcome,
            "worlds": dict(verdict.worlds),
            "before": dict(verdict.before),
            "transfers": {"before": verdict.transfers_before, "after": verdict.transfers_after},
            "because": verdict.reason,
            "against": list(verdict.objections),
        },
        "neighbours": [{"path": edit.path, "line": edit.line, "diff": unified(edit)} for edit in fix.similar_sites],
    }


def _foreign(foreign: DependencyFault) -> dict[str, Any]:
    return {
        "distribution": foreign.distribution,
        "version": foreign.version,
        "path": foreign.path,
        "line": foreign.line,
        "because": foreign.reason,
        "diff": foreign.diff,
        "pin": foreign.pin,
        "pin_edits": [{"path": edit.path, "line": edit.line, "diff": unified(edit)} for edit in foreign.pin_edits],
    }


def _others(others: Others) -> dict[str, Any]:
    return {
        "seconds": others.seconds,
        "ran": [asdict(each) for each in others.ran],
        "left_out": [{"command": command, "because": reason} for command, reason in others.left_out],
    }


def _behind(run: Run) -> dict[str, Any]:
    """Return how a repaired program ends: in a failure of its own, which is there without a GPU too."""
    failure = run.failure
    at = failure.at if failure is not None else None
    return {
        "exit_code": run.exit_code,
        "exception": failure.exception if failure is not None else "",
        "message": failure.message if failure is not None else (run.stderr.strip().splitlines() or [""])[-1][:TAIL],
        "at": {"path": at.path, "line": at.line, "function": at.function, "owned": at.owned} if at else None,
        "text": (run.stderr or run.stdout)[-TAIL:],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "outcome": run.outcome.value,
        "exit_code": run.exit_code,
        "signal": run.signal,
        "seconds": round(run.seconds, 3),
        "stdout": run.stdout[-TAIL:],
        "stderr": run.stderr[-TAIL:],
        "torch": run.torch,
        "trouble": list(run.internal_errors),
    }
