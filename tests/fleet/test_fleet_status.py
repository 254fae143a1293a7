"""What `devfix fleet status` and `devfix fleet report` say of a folder of results."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from cli_programs import repair
from fleet_results import finding, job, result
from git_repositories import make_repository
from json_schemas import closed
from terminals import in_terminal

from devfix.cli import status
from devfix.fleet.records import Job
from devfix.fleet.results import ResultStore
from devfix.fleet.results.queries import FleetQueries
from devfix.model import JobOutcome
from devfix.report.fleet_types import FailureReasonRecord, FleetRecord, MemoryRecord, RuleCountRecord
from devfix.report.render.machine_readable.json import fleet_schema

HOSTILE = "'); DROP TABLE plan; -- [red]{{7*7}}\x1b[2J\u202e"


def write(folder: Path) -> list[Job]:
    """Write the results of six of seven jobs, one of them hostile, and of one that is not planned any more."""
    jobs = [job(number) for number in range(7)]
    jobs[5] = job(5, repository=HOSTILE)
    store = ResultStore.create(folder)
    store.write_plan(jobs)
    store.add(result(jobs[0], findings=(finding(jobs[0]), finding(jobs[0], 2)), fixes=2, memory=3_000_000_000))
    found = (finding(jobs[1], fixed=False, rule=HOSTILE), finding(jobs[1], 2, fixed=False, rule="", title=HOSTILE))
    store.add(result(jobs[1], JobOutcome.FOUND, findings=found, memory=1_000_000_000))
    store.add(result(jobs[2], JobOutcome.CLEAN, seconds=600.0))
    for number in (3, 4):
        store.add(result(jobs[number], JobOutcome.ENVIRONMENT_FAILED, reason="no torch fits", run_seconds=0.0))
    store.add(result(jobs[5], JobOutcome.CLONE_FAILED, reason=HOSTILE))
    store.add(result(job(99), JobOutcome.LOST, findings=(finding(job(99)),)))
    store.close()
    return jobs


def test_every_planned_job_is_accounted_for(tmp_path: Path) -> None:
    jobs = write(tmp_path)
    data = FleetQueries(ResultStore.open(tmp_path)).summary()
    assert (data.planned, data.pending, data.unplanned, data.findings, data.fixed) == (7, 1, 1, 4, 2)
    assert {each.outcome: each.jobs for each in data.outcomes} == {
        "environment failed": 2,
        "repaired": 1,
        "found": 1,
        "clean": 1,
        "clone failed": 1,
    }
    assert sum(each.jobs for each in data.outcomes) + data.pending == data.planned == len(data.repositories)
    assert data.rules[0] == RuleCountRecord(rule="placement/new-tensor", findings=2, fixed=2, repositories=1)
    assert {each.rule for each in data.rules[1:]} == {"", HOSTILE}
    assert data.failures[0] == FailureReasonRecord(
        outcome="environment failed", reason="no torch fits", jobs=2, repositories=("ada/model-3", "ada/model-4")
    )
    assert data.failures[1].reason == HOSTILE and data.failures[1].repositories == (HOSTILE,)
    steps = {each.step: each for each in data.seconds}
    assert (steps["run"].jobs, steps["job"].jobs, steps["job"].longest, steps["job"].median) == (4, 6, 600.0, 60.0)
    assert data.memory == MemoryRecord(jobs=2, median=1_000_000_000, p90=3_000_000_000, largest=3_000_000_000)
    first = data.repositories[0]
    assert (first.key, first.findings, first.fixed, first.outcome) == (jobs[0].key, 2, 2, "repaired")
    assert [each.repository for each in data.repositories if not each.outcome] == ["ada/model-6"]


def test_a_fleet_that_has_no_plan_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ResultStore.create(tmp_path).close()
    assert status(["fleet", "status", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "No jobs are planned\n"
    assert status(["fleet", "report", str(tmp_path)]) == 0


def test_the_text_has_every_count_and_nothing_that_drives_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path)
    assert status(["fleet", "status", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("6 of 7 jobs ended; 4 findings, 2 fixed\n")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for line in ("environment failed 2", "not yet run 1", "environment failed 2 no torch fits"):
        assert line in lines
    assert "placement/new-tensor 2 2 1" in lines
    assert "1 result of jobs that are not planned any more: not counted above" in lines
    assert "[red]{{7*7}}\\x1b[2J\\u202e" in "".join(text.split()) and not {"\x1b", "\u202e"} & set(text)


@pytest.mark.slow
def test_a_terminal_gets_the_same_words(tmp_path: Path) -> None:
    write(tmp_path)
    code, shown = in_terminal(["fleet", "status", str(tmp_path)], tmp_path, [], {"TERM": "xterm", "COLUMNS": "100"})
    assert code == 0 and "6 of 7 jobs ended" in shown and "not yet run" in shown and "\x1b[2J" not in shown


def test_the_json_is_what_the_schema_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    assert status(["fleet", "status", str(tmp_path), "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, closed(copy.deepcopy(fleet_schema())), jsonschema.Draft202012Validator)
    assert data["schema"] == FleetRecord.schema and data["pending"] == 1


def test_other_folders_are_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("status", "report", "publish"):
        assert status(["fleet", command, str(tmp_path)]) == 2
        told = capsys.readouterr()
        assert told.err.count("\n") == 1 and "not a folder of results" in told.err and not told.out


@pytest.mark.slow
def test_the_report_shows_the_fixes_of_an_artifact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A real repair; an artifact that is about another commit; one with a file that devfix does not write."""
    source = "import torch\nnet = torch.nn.Linear(2, 2).cuda()\nprint(net(torch.ones(2)).sum())\n"
    repository = make_repository(tmp_path / "model", {"train.py": source})
    repair(repository, "--run", "python train.py", "--output", str(tmp_path / "artifact"))
    files = tuple(
        (path.relative_to(tmp_path / "artifact").as_posix(), path.read_bytes())
        for path in sorted((tmp_path / "artifact").rglob("*"))
        if path.is_file()
    )
    commit = json.loads(dict(files)["report.json"])["commit"]
    jobs = [job(0, commit=commit), job(1, commit="f" * 40), job(2, commit=commit)]
    store = ResultStore.create(tmp_path / "results")
    store.write_plan(jobs)
    more = ((), (), (("run.sh", b"#!"),))
    for each, extra in zip(jobs, more, strict=True):
        store.add(result(each, findings=(finding(each),), fixes=1, artifact=(*files, *extra)))
    store.close()
    assert status(["fleet", "report", str(tmp_path / "results"), "--output", str(tmp_path / "fleet.html")]) == 0
    page = (tmp_path / "fleet.html").read_text("utf-8")
    assert page.count('<pre class="diff"') == 1 and 'aria-label="Change of train.py"' in page
    assert "is about the commit" in page and "run.sh is not part of an artifact" in page


def test_help_imports_nothing_of_the_extra() -> None:
    code = (
        "import sys; sys.argv = ['devfix', 'fleet', '--help']\n"
        "from devfix.cli import status\n"
        "assert status(sys.argv[1:]) == 0\n"
        "assert not {'pyarrow', 'duckdb', 'ray'} & sys.modules.keys(), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "package"), [("status", "duckdb"), ("report", "pyarrow"), ("report", "duckdb"), ("publish", "pyarrow")]
)
def test_a_missing_package_is_one_line(command: str, package: str, tmp_path: Path) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        f"from devfix.cli import status\n"
        f"sys.exit(status(['fleet', {command!r}, {str(tmp_path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith(f"devfix: a fleet needs {package}: pip install ")
