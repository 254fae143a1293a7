"""GitLab's Code Quality report: what GitLab asks of an entry, for repairs and searches."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from programs import FIRST, SECOND, History
from sample_report import HOSTILE, lines, report
from sample_search import record as search

from devfix.report.record import failed_record, record
from devfix.report.render.machine_readable.code_quality import code_quality, find_code_quality

TEXT = {"type": "string", "minLength": 1}
PLACE = {
    "type": "object",
    "required": ["path", "lines"],
    "properties": {
        "path": {"type": "string", "pattern": r"^[^/.]"},
        "lines": {"type": "object", "required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}},
    },
}
# As GitLab's documentation describes an entry.
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "location", "severity"],
        "additionalProperties": False,
        "properties": {
            "description": TEXT,
            "check_name": TEXT,
            "fingerprint": TEXT,
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": PLACE,
        },
    },
}


@pytest.fixture
def history(tmp_path: Any) -> History:
    from programs import FILES

    return History.start(tmp_path / "model", FILES)


def checked(text: str) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = json.loads(text)
    jsonschema.validate(data, SCHEMA)
    assert len({each["fingerprint"] for each in data}) == len(data)
    return data


def test_a_repair_has_an_entry_for_each_failure(history: History) -> None:
    first, second = checked(code_quality(history.record(FIRST, SECOND)))
    assert (first["location"], first["severity"]) == ({"path": "train.py", "lines": {"begin": 8}}, "critical")
    assert first["check_name"] == "placement/input-not-moved"
    assert first["description"].startswith("RuntimeError: Expected all tensors to be on the same device")
    assert second["location"]["path"] == "model.py"
    assert checked(code_quality(history.record(outcome="clean"))) == []
    assert checked(code_quality(failed_record("python train.py", "no git repository here"))) == []


def test_hostile_text_is_text_in_one_line() -> None:
    for entry in checked(code_quality(record(report(HOSTILE), lines))):
        assert entry["description"].isprintable()


def test_an_entry_is_known_again_when_lines_move_and_equal_ones_stay_apart(history: History) -> None:
    (before,) = checked(code_quality(history.record(FIRST)))
    history.commit({"train.py": b"# more\n# lines\n" + history.content("train.py")}, "docs: explain")
    (after,) = checked(code_quality(history.record((FIRST[0], FIRST[1] + 2, *FIRST[2:]))))
    assert before["fingerprint"] == after["fingerprint"] and before["location"] != after["location"]
    data = history.record((FIRST[0], FIRST[1] + 2, *FIRST[2:]))
    assert len(checked(code_quality(replace(data, failures=data.failures * 2)))) == 2


def test_a_failure_outside_of_the_repository_is_shown_where_its_tensor_was_created(history: History) -> None:
    data = history.record(FIRST)
    (failure,) = data.failures
    assert failure.at is not None
    outside = replace(failure, at=replace(failure.at, path="/usr/lib/torch/nn.py"))
    (entry,) = checked(code_quality(replace(data, failures=(outside,))))
    assert entry["location"] == {"path": "train.py", "lines": {"begin": 7}}
    nowhere = replace(outside, operands=())
    assert checked(code_quality(replace(data, failures=(nowhere,)))) == []


def test_a_search_has_an_entry_for_each_finding() -> None:
    data = search()
    entries = checked(find_code_quality(data))
    assert len(entries) == len(data.findings) == 2
    assert entries[0]["location"] == {"path": "lib/a.py", "lines": {"begin": 5}}
