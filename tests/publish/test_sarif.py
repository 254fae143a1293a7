"""SARIF, by its official schema and by the validator of those who wrote it."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from programs import FIRST, SECOND, History
from sample_report import HOSTILE, lines, report

from devfix.report.record import failed_record, record
from devfix.report.render.machine_readable.sarif import sarif


@pytest.fixture(scope="session")
def multitool(modules: Path) -> Path:
    return modules / "@microsoft" / "sarif-multitool-linux"


@pytest.fixture(scope="session")
def schema(multitool: Path) -> Any:
    return json.loads((multitool / "sarif-2.1.0.json").read_text("utf-8-sig"))


def samples(history: History) -> list[Any]:
    return [
        history.record(FIRST, SECOND),
        history.record(outcome="clean"),
        record(report(), lines),
        record(report(HOSTILE), lines),
        failed_record("python train.py", "no git repository here"),
    ]


def test_it_keeps_to_the_schema(history: History, schema: Any) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    for data in samples(history):
        assert not [error.message for error in validator.iter_errors(json.loads(sarif(data)))]
    broken = json.loads(sarif(samples(history)[0]))
    broken["runs"][0]["results"][0]["message"] = 3
    assert list(validator.iter_errors(broken))


@pytest.mark.slow
def test_the_validator_finds_no_error_and_no_warning(history: History, multitool: Path, tmp_path: Path) -> None:
    tool = multitool / "Sarif.Multitool"
    tool.chmod(0o755)
    for number, data in enumerate(samples(history)):
        (tmp_path / f"{number}.sarif").write_text(sarif(data))
    environment = {
        **os.environ,
        "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1",
        "DOTNET_BUNDLE_EXTRACT_BASE_DIR": str(tmp_path),
    }
    command = [str(tool), "validate", *map(str, sorted(tmp_path.glob("*.sarif")))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert "Analysis completed successfully" in done.stdout, done.stdout + done.stderr
    assert ": error " not in done.stdout, done.stdout


def test_it_has_place_creations_and_the_fix(history: History) -> None:
    (run,) = json.loads(sarif(history.record(FIRST)))["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "placement/input-not-moved"
    where = result["locations"][0]["physicalLocation"]
    assert (where["artifactLocation"]["uri"], where["region"]["startLine"]) == ("train.py", 8)
    assert "was created here" in result["relatedLocations"][0]["message"]["text"]
    ((change,),) = ((each["artifactChanges"]) for each in result["fixes"])
    (replacement,) = change["replacements"]
    region = replacement["deletedRegion"]
    assert (region["startLine"], region["endLine"]) == (8, 9)
    assert replacement["insertedContent"]["text"] == '    print(net(x.to("cuda")))\n'


def test_a_reason_that_the_fix_and_the_rule_share_is_said_once() -> None:
    data = record(report(), lines)
    finding = replace(data.failures[0].findings[0], reason=data.fixes[0].reason)
    data = replace(data, failures=(replace(data.failures[0], findings=(finding,)), *data.failures[1:]))
    words = json.loads(sarif(data))["runs"][0]["results"][0]["message"]["text"]
    assert words.count(data.fixes[0].reason) == 1


def test_a_failure_is_known_again_when_lines_move(history: History) -> None:
    def known(data: Any) -> str:
        return str(json.loads(sarif(data))["runs"][0]["results"][0]["partialFingerprints"])

    before = known(history.record(FIRST))
    history.commit({"train.py": b"# more\n# lines\n" + history.content("train.py")}, "docs: explain")
    moved = (FIRST[0], FIRST[1] + 2, *FIRST[2:])
    assert known(history.record(moved)) == before
    assert known(history.record(SECOND)) != before
