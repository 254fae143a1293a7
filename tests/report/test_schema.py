"""The JSON of a report: what its readers can count on."""

from __future__ import annotations

import copy
import json
import re
import subprocess
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from json_schemas import closed
from sample_report import AFTER, BEFORE, HOSTILE, lines, patch, report

from devfix.errors import UserError
from devfix.model import Edit
from devfix.report.diff import format_diff
from devfix.report.record import failed_record, record
from devfix.report.render.machine_readable.json import (
    dump,
    find_schema,
    fleet_schema,
    read,
    run_schema,
    schema,
    suite_schema,
    write,
)

HOSTILE_FIXES = [
    ({"verdict": {"outcome": "surely"}}, "verdict.outcome"),
    ({"safety": "perfectly"}, "safety"),
    ({"failure": -1}, "failure"),
    ({"edits": [{"path": "a.py", "line": -1, "diff": ""}]}, "edits[0].line"),
    ({"edits": {}}, "edits"),
    ({"regression_test": {"path": "t.py", "text": 1}}, "regression_test.text"),
]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("schema.json", schema()),
        ("run.json", run_schema()),
        ("find.json", find_schema()),
        ("suite.json", suite_schema()),
        ("fleet.json", fleet_schema()),
    ],
)
def test_the_schemas_in_the_repository_are_those_of_the_types(name: str, given: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(given)
    kept = files("devfix.report").joinpath(name).read_text("utf-8")
    assert json.loads(kept) == given, "write it again: python scripts/write_schemas.py"


@pytest.mark.parametrize("text", ["", HOSTILE])
def test_what_is_written_is_all_described_and_reads_back(text: str) -> None:
    written = write(report(text), lines)
    jsonschema.validate(json.loads(written), closed(copy.deepcopy(schema())), jsonschema.Draft202012Validator)
    assert read(written) == record(report(text), lines)


def test_an_error_is_a_report_too() -> None:
    written = dump(failed_record("python train.py", "no git repository here"))
    jsonschema.validate(json.loads(written), closed(copy.deepcopy(schema())), jsonschema.Draft202012Validator)
    assert read(written).outcome == "error"


def test_json_has_the_members_that_were_promised() -> None:
    data = json.loads(write(report(), lines))
    first = data["failures"][0]
    assert data["schema"] == "devfix-report/1"
    assert (first["at"]["path"], first["at"]["line"], first["at"]["source"]) == ("train.py", 4, "model(x)")
    ids = first["operands"][1]
    assert (ids["name"], ids["device"], ids["dtype"], ids["shape"]) == ("x", "cpu", "float32", [2, 16])
    assert (ids["creation"]["path"], ids["creation"]["line"]) == ("train.py", 3)
    assert data["fixes"][0]["verdict"]["transfers"] == {"before": 3, "after": 4}
    assert [fix["failure"] for fix in data["rejected"]] == [0, 1]


def test_a_later_failure_quotes_the_source_with_the_fixes_before_it() -> None:
    first, second = record(report(), lines).failures
    assert first.at is not None and first.at.source == "model(x)"
    assert second.at is not None and second.at.source == "model(x.to(device))"


def test_json_is_ascii_so_that_no_escape_reaches_a_terminal() -> None:
    written = write(report(HOSTILE + "\udc80"), lines)
    assert written.isascii()
    assert "\x1b" not in written
    assert read(written).branch == "devfix/x" + HOSTILE + "\udc80"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"schema": "devfix-report/2"}, "devfix-report/1"),
        ({"outcome": "fine"}, "outcome"),
        ({"commit": "--upload-pack=x"}, "commit"),
        ({"commit": "a" * 40 + "\n"}, "commit"),
        ({"failures": {}}, "failures"),
        ({"fixes": [{"rule": "x"}]}, "fixes"),
        ({"world": {"kind": "simulated", "gpus": -1}}, "gpus"),
        ({"world": {"kind": "quantum\x1b[31m", "gpus": 1}}, "kind"),
        ({"commits": ["--help"]}, "commits"),
        ({"seconds": {"total": -1.0}}, "seconds"),
        ({"gpus_needed": {"given": 1, "needed": 0, "reason": "", "met": True}}, "needed"),
        ({"outcome": "\ud800"}, "not a devfix report"),
        ({"seconds": {"total": float("nan")}}, "NaN"),
    ],
)
def test_what_is_no_report_is_refused_in_one_line(change: dict[str, Any], word: str) -> None:
    with pytest.raises(UserError, match=word) as caught:
        read(json.dumps({**json.loads(write(report())), **change}))
    assert "\n" not in str(caught.value) and "\x1b" not in str(caught.value)


def test_a_number_that_json_cannot_write_is_refused() -> None:
    written = json.dumps({**json.loads(write(report())), "seconds": {"total": "far"}})
    with pytest.raises(UserError, match="seconds"):
        read(written.replace('"far"', "1e400"))


@pytest.mark.parametrize(("change", "place"), HOSTILE_FIXES)
def test_a_fix_that_is_none_is_refused_with_the_place_that_is_wrong(change: dict[str, Any], place: str) -> None:
    data = json.loads(write(report()))
    fix = data["fixes"][0]
    for name, part in change.items():
        fix[name] = {**fix[name], **part} if isinstance(fix[name], dict) else part
    with pytest.raises(UserError, match=re.escape(f"at `$.fixes[0].{place}`")):
        read(json.dumps(data))


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, "null"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="not a devfix report"):
        read(text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BEFORE, AFTER),
        (BEFORE.replace(b"\n", b"\r\n"), AFTER.replace(b"\n", b"\r\n")),
        (b"a\x0cb\r\nx", b"a\x0cc\r\nx"),
        (b"x = 1", b"x = 2"),
        (b"x = 1", b"x = 1\ny = 2"),
        (b"# caf\xe9\nx = 1\n", b"# caf\xe9\nx = 2\n"),
        (b"\xef\xbb\xbfx = 1\n", b"\xef\xbb\xbfx = 2\n"),
    ],
)
def test_git_takes_the_diff_and_gets_the_same_bytes(tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / "train.py").write_bytes(before)
    diff = format_diff(Edit("train.py", 1, before, after))
    given = json.loads(json.dumps(diff)).encode("utf-8", "surrogateescape")
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=tmp_path, input=given, check=True)
    assert (tmp_path / "train.py").read_bytes() == after


def test_a_patch_of_two_files_has_a_diff_for_each() -> None:
    sample = report()
    both = replace(patch(), edits=(Edit("a.py", 1, b"1\n", b"2\n"), Edit("b.py", 1, b"1\n", b"2\n")))
    fix = sample.repairs[0].fix
    assert fix is not None
    changed = replace(sample, repairs=(replace(sample.repairs[0], fix=replace(fix, patch=both)),))
    edits = record(changed).fixes[0].edits
    assert [edit.path for edit in edits] == ["a.py", "b.py"]
    assert all(f"+++ b/{edit.path}\n" in edit.diff for edit in edits)
