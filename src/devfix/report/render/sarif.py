"""The record of a report as SARIF 2.1.0, the form that code scanning reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from devfix import __version__
from devfix.report.fingerprint import failure_id
from devfix.report.hunks import parse
from devfix.report.render.headline import headline
from devfix.report.render.plain import one_line, plain

Record = Mapping[str, Any]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_NO_RULE = "device-failure"  # for failures that no rule knows


def sarif(data: Record) -> str:
    """Return a log with one run: a result for each failure, with where its tensors were born and how it was fixed."""
    results = [_result(data, index) for index in range(len(data["failures"]))]
    run = {
        "tool": {"driver": {"name": "devfix", "version": __version__, "rules": list(_rules(data))}},
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The root of the repository."}}},
        "columnKind": "utf16CodeUnits",
        "invocations": [_invocation(data)],
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, allow_nan=False) + "\n"


def _rules(data: Record) -> Iterator[Record]:
    titles = {_NO_RULE: "A device failure that no rule knows"}
    for failure in data["failures"]:
        titles.update({blame["rule"]: blame["title"] for blame in failure.get("blamed", ())})
    used = dict.fromkeys(_rule(data, index) for index in range(len(data["failures"])))
    for rule in used:
        yield {"id": one_line(rule, 200), "shortDescription": {"text": one_line(titles.get(rule, rule)) or "A rule"}}


def _rule(data: Record, index: int) -> str:
    fixed = next((fix["rule"] for fix in data["fixes"] if fix.get("failure", 0) == index), "")
    blamed = data["failures"][index].get("blamed") or [{}]
    return fixed or blamed[0].get("rule") or _NO_RULE


def _result(data: Record, index: int) -> Record:
    failure = data["failures"][index]
    fixes = [fix for fix in data["fixes"] if fix.get("failure", 0) == index]
    reason = " ".join([*(fix["because"] for fix in fixes), *(blame["because"] for blame in failure.get("blamed", ()))])
    words = f"{failure['exception']}: {failure['message']} {reason}"
    at = failure["at"]
    births = [operand for operand in failure["operands"] if operand["born"] and operand["born"]["path"]]
    return {
        "ruleId": one_line(_rule(data, index), 200),
        "level": "error",
        "message": {"text": message(words)},
        "locations": [location(at)] if at else [],
        "relatedLocations": [
            {
                **location(operand["born"]),
                "message": {"text": message(f"{operand['name']} was born here, on {operand['born']['device']}")},
            }
            for operand in births
        ],
        "partialFingerprints": {"devfixFailure/v1": failure_id(failure)},
        "fixes": [told for fix in fixes if (told := _fix(fix))],
    }


def _fix(fix: Record) -> Record | None:
    try:
        changes = [
            {"artifactLocation": _file(edit["path"]), "replacements": list(_replacements(edit))}
            for edit in fix["edits"]
        ]
    except ValueError:  # a diff that is none: whoever wrote it, the failure is still worth telling
        return None
    return {"description": {"text": message(fix["title"])}, "artifactChanges": changes} if changes else None


def _replacements(edit: Record) -> Iterator[Record]:
    """Yield each changed run of lines, without those that a diff shows around it."""
    for hunk in parse(edit["diff"], edit["path"]):
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


def location(place: Record) -> Record:
    """Return a place as SARIF has it."""
    return {
        "physicalLocation": {"artifactLocation": _file(place["path"]), "region": {"startLine": max(place["line"], 1)}}
    }


def _file(path: str) -> Record:
    uri = quote(path.encode("utf-8", "replace"))
    return {"uri": "file://" + uri} if path.startswith("/") else {"uri": uri, "uriBaseId": "SRCROOT"}


def _invocation(data: Record) -> Record:
    notes = [headline(data).plain] if data["outcome"] == "error" else []
    return {
        "executionSuccessful": data["outcome"] != "error",
        "toolExecutionNotifications": [{"level": "error", "message": {"text": one_line(note, 1000)}} for note in notes],
    }


def message(text: str) -> str:
    """Return the text of a message; SARIF reads links in it, `[words](target)`."""
    shown = one_line(plain(text), 2000) or "(nothing was said)"
    return shown.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
