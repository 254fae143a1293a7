"""The record of `devfix find` as SARIF 2.1.0: a result for each cause, at the line that makes the stray tensor."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from devfix import __version__
from devfix.report.find_types import CauseRecord, FindRecord
from devfix.report.plain import one_line
from devfix.report.render.machine_readable.sarif import SCHEMA, location, message
from devfix.report.render.terminal.find import summary

Record = Mapping[str, Any]
_LEVELS = {"high": "error", "medium": "warning", "low": "note"}


def find_sarif(data: FindRecord) -> str:
    """Return a log with one run."""
    titles = {_rule(each): each.title for each in data.findings}
    rules = [{"id": rule, "shortDescription": {"text": one_line(title)}} for rule, title in titles.items()]
    run = {
        "tool": {"driver": {"name": "devfix", "version": __version__, "rules": rules}},
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The root of the repository."}}},
        "columnKind": "utf16CodeUnits",
        "invocations": [{"executionSuccessful": not (data.interrupted or data.error)}],
        "results": [_result(each) for each in data.findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, allow_nan=False) + "\n"


def _rule(finding: CauseRecord) -> str:
    return one_line(finding.rule or finding.kind, 200)


def _result(finding: CauseRecord) -> Record:
    here = "It fails here." if finding.evidence is None else "It is seen here, and nothing fails."
    return {
        "ruleId": _rule(finding),
        "level": _LEVELS[finding.confidence],
        "message": {"text": message(f"{summary(finding)} Seen in {finding.tests[0]}")},
        "locations": [location(finding)],
        "relatedLocations": [{**location(finding.failing), "message": {"text": here}}],
        "partialFingerprints": {"devfixCause/v1": cause_id(finding)},
    }


def cause_id(finding: CauseRecord) -> str:
    """Return an id of a finding that stays the same when lines move."""
    known_by = "\0".join((finding.kind, finding.path, finding.function, finding.rule))
    return hashlib.sha256(known_by.encode("utf-8", "surrogateescape")).hexdigest()[:32]
