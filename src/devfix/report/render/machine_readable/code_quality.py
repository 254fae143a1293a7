"""A report as GitLab's Code Quality report: what its merge requests show beside the code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from devfix.notebooks.notebook import named_cell
from devfix.report.failure_types import FailureRecord
from devfix.report.find_types import FindRecord
from devfix.report.fingerprint import failure_id
from devfix.report.plain import one_line, plain
from devfix.report.render.machine_readable.find_sarif import cause_id
from devfix.report.render.machine_readable.sarif import Located, rule_of
from devfix.report.render.terminal.find import summary
from devfix.report.types import ReportRecord

_SEVERITIES = {"high": "major", "medium": "minor", "low": "info"}


def code_quality(data: ReportRecord) -> str:
    """Return the failures of a repair that have a place in the repository."""
    return _to_json(_failures(data))


def find_code_quality(data: FindRecord) -> str:
    """Return the findings of a search, more severe the surer they are."""
    return _to_json(
        _entry(summary(each), each.rule or each.kind, cause_id(each), each, _SEVERITIES[each.confidence])
        for each in data.findings
    )


def _failures(data: ReportRecord) -> Iterator[Mapping[str, Any]]:
    for index, failure in enumerate(data.failures):
        place = next((each for each in _places(failure) if _is_inside(each.path)), None)
        if place is not None:
            words = f"{failure.exception}: {failure.message}"
            yield _entry(words, rule_of(data, index), failure_id(failure), place, "critical")


def _places(failure: FailureRecord) -> Iterator[Located]:
    """Yield where it failed, then where its operands were created."""
    if failure.at is not None:
        yield failure.at
    yield from (each.creation for each in failure.operands if each.creation is not None)


def _is_inside(path: str) -> bool:
    return bool(path) and not path.startswith("/") and ".." not in path.split("/")


def _entry(words: str, rule: str, known_by: str, place: Located, severity: str) -> Mapping[str, Any]:
    cell = named_cell(place.path)  # the line of a cell is none of the file
    return {
        "description": one_line(plain(words), 1000) or "(no message)",
        "check_name": one_line(rule, 200),
        "fingerprint": known_by,
        "severity": severity,
        "location": {"path": cell[0] if cell else place.path, "lines": {"begin": 1 if cell else max(place.line, 1)}},
    }


def _to_json(entries: Iterable[Mapping[str, Any]]) -> str:
    """Return the entries as JSON; GitLab shows one entry for each fingerprint, so that each gets its own."""
    seen: dict[str, int] = {}
    distinct = []
    for entry in entries:
        count = seen[entry["fingerprint"]] = seen.get(entry["fingerprint"], 0) + 1
        text = f"{entry['fingerprint']}\0{count}" if count > 1 else ""
        own = hashlib.sha256(text.encode()).hexdigest()[:32] if text else entry["fingerprint"]
        distinct.append({**entry, "fingerprint": own})
    return json.dumps(distinct, indent=2, allow_nan=False) + "\n"
