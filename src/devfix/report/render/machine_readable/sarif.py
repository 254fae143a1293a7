"""A report as SARIF 2.1.0, the format of code scanning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol
from urllib.parse import quote

from devfix import __version__
from devfix.notebooks.notebook import named_cell
from devfix.report.diff import parse
from devfix.report.fingerprint import failure_id
from devfix.report.plain import one_line, plain
from devfix.report.render.terminal.headline import headline
from devfix.report.types import EditRecord, FixRecord, ReportRecord

Json = Mapping[str, Any]
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_NO_RULE = "device-failure"  # for failures without a finding of a rule


def sarif(data: ReportRecord) -> str:
    """Return a log with one run: a result for each failure, with the creation of its operands and the fixes."""
    results = [_result(data, index) for index in range(len(data.failures))]
    run = {
        "tool": {"driver": {"name": "devfix", "version": __version__, "rules": list(_rules(data))}},
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The root of the repository."}}},
        "columnKind": "utf16CodeUnits",
        "invocations": [_invocation(data)],
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, allow_nan=False) + "\n"


def _rules(data: ReportRecord) -> Iterator[Json]:
    titles = {_NO_RULE: "Device failure without a matching rule"}
    for failure in data.failures:
        titles.update({blame.rule: blame.title for blame in failure.findings})
    used = dict.fromkeys(rule_of(data, index) for index in range(len(data.failures)))
    for rule in used:
        yield {"id": one_line(rule, 200), "shortDescription": {"text": one_line(titles.get(rule, rule)) or "A rule"}}


def rule_of(data: ReportRecord, index: int) -> str:
    """Return the rule that fixed a failure, else the first with a finding, else a name for failures without one."""
    fixed = next((fix.rule for fix in data.fixes if fix.failure == index), "")
    findings = data.failures[index].findings
    return fixed or (findings[0].rule if findings else "") or _NO_RULE


def _result(data: ReportRecord, index: int) -> Json:
    failure = data.failures[index]
    fixes = [fix for fix in data.fixes if fix.failure == index]
    reasons = dict.fromkeys([*(fix.reason for fix in fixes), *(blame.reason for blame in failure.findings)])
    words = " ".join([f"{failure.exception}: {failure.message}", *reasons])
    at = failure.at
    created = [(each.name, each.creation) for each in failure.operands if each.creation and each.creation.path]
    return {
        "ruleId": one_line(rule_of(data, index), 200),
        "level": "error",
        "message": {"text": message(words)},
        "locations": [location(at)] if at else [],
        "relatedLocations": [
            {
                **location(creation),
                "message": {"text": message(f"{name} was created here, on {creation.device}")},
            }
            for name, creation in created
        ],
        "partialFingerprints": {"devfixFailure/v1": failure_id(failure)},
        "fixes": [record for fix in fixes if (record := _fix(fix))],
    }


def _fix(fix: FixRecord) -> Json | None:
    if any(named_cell(edit.path) for edit in fix.edits):
        return None  # a viewer would take the lines of a cell for those of the file
    try:
        changes = [
            {"artifactLocation": _file(edit.path), "replacements": list(_replacements(edit))} for edit in fix.edits
        ]
    except ValueError:  # an invalid diff: the failure itself is still reported
        return None
    return {"description": {"text": message(fix.title)}, "artifactChanges": changes} if changes else None


def _replacements(edit: EditRecord) -> Iterator[Json]:
    """Yield each changed run of lines, without the context lines of the diff."""
    for hunk in parse(edit.diff, edit.path):
        line, removed, added = hunk.start + (not hunk.old), 0, b""
        for mark, text in (*hunk.lines, (" ", b"")):
            if mark == "-":
                removed += 1
            elif mark == "+":
                added += text
            else:
                if removed or added:
                    region = {
                        "startLine": max(line, 1),
                        "startColumn": 1,
                        "endLine": max(line + removed, 1),
                        "endColumn": 1,
                    }
                    yield {"deletedRegion": region, "insertedContent": {"text": added.decode("utf-8", "replace")}}
                line, removed, added = line + removed + 1, 0, b""


class Located(Protocol):
    """A record that has a location in a file."""

    @property
    def path(self) -> str:
        """Return the path of the file."""

    @property
    def line(self) -> int:
        """Return the number of the line."""


def location(place: Located) -> Json:
    """Return a place as SARIF has it."""
    if (cell := named_cell(place.path)) is not None:  # the line of the cell is none of the file
        logical = [{"fullyQualifiedName": f"{place.path}:{place.line}"}]
        return {"physicalLocation": {"artifactLocation": _file(cell[0])}, "logicalLocations": logical}
    return {"physicalLocation": {"artifactLocation": _file(place.path), "region": {"startLine": max(place.line, 1)}}}


def _file(path: str) -> Json:
    uri = quote(path.encode("utf-8", "replace"))
    return {"uri": "file://" + uri} if path.startswith("/") else {"uri": uri, "uriBaseId": "SRCROOT"}


def _invocation(data: ReportRecord) -> Json:
    notes = [headline(data).plain] if data.outcome == "error" else []
    return {
        "executionSuccessful": data.outcome != "error",
        "toolExecutionNotifications": [{"level": "error", "message": {"text": one_line(note, 1000)}} for note in notes],
    }


def message(text: str) -> str:
    """Return the text of a message; SARIF reads links in it, `[words](target)`."""
    shown = one_line(plain(text), 2000) or "(no message)"
    return shown.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
