"""The command line: what is wrong usage, what is ours, and what each exits with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from git_repositories import make_repository
from typer.testing import CliRunner

from devfix.cli import app, status
from devfix.report.render.machine_readable.json import read

SOURCE = Path(__file__).parents[2] / "src" / "devfix"


def devfix(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    command = [sys.executable, "-m", "devfix", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "devfix repair ."),
        (["fix"], "No such command"),
        (["repair", "--nope"], "No such option"),
        (["repair", "--gpus", "0"], "--gpus"),
        (["repair", "--gpus", "many"], "--gpus"),
        (["repair", "--world", "moon"], "'auto', 'real', 'simulated'"),
        (["repair", "--format", "yaml"], "--format"),
        (["repair", "--max-fixes", "0"], "--max-fixes"),
        (["repair", "--timeout", "-1"], "--timeout"),
        (["repair", "--timeout", "nan"], "--timeout"),
        (["repair", "--run", " "], "--run is empty"),
        (["repair", "a", "b"], "unexpected extra argument"),
        (["repair", "/no/such/folder"], "no such folder"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert words in told.err
    assert told.err.startswith("devfix: ")
    assert told.err.count("\n") == 1


@pytest.mark.slow
def test_no_repository_is_wrong_usage(tmp_path: Path) -> None:
    done = devfix("repair", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "git init" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("form", [["--format", "json"], ["--format=json"]])
def test_wrong_usage_with_json_is_one_object_too(tmp_path: Path, form: list[str]) -> None:
    done = devfix("repair", str(tmp_path), "--run", "python a.py", *form)
    data = read(done.stdout)
    assert (done.returncode, data.outcome, data.command) == (2, "error", "python a.py")
    assert "git init" in data.error.message
    assert data.error.log == ""


@pytest.mark.slow
def test_a_program_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": "import torch\n"})
    done = devfix("repair", str(tmp_path), "--run", "no-such-program --fast")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no-such-program" in done.stderr


def test_a_fault_of_ours_leaves_a_log_ready_to_paste(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("devfix.pipeline.repair", lambda *_, **__: 1 / 0)
    assert status(["repair", ".", "--format", "json"]) == 3
    told = capsys.readouterr()
    (log,) = tmp_path.glob("devfix-error-*.log")
    assert str(log) in told.err
    data = read(told.out)
    assert data.error.log == str(log)
    facts, _, trace = log.read_text().partition("\n\n")
    assert json.loads(facts)["arguments"] == ["repair", ".", "--format", "json"]
    assert trace.startswith("Traceback")
    assert trace.endswith("ZeroDivisionError: division by zero\n")


def test_help_shows_an_example_and_every_exit_code() -> None:
    shown = CliRunner().invoke(app, ["repair", "--help"]).output
    assert 'devfix repair . --run "python train.py --steps 2"' in shown
    for option in ("run", "world", "gpus", "python", "exclude", "timeout", "max-fixes", "branch", "dry-run", "format"):
        assert f"--{option}" in shown
    assert "Exit codes: 0" in shown


def test_the_version_is_the_packages() -> None:
    import devfix as package

    done = devfix("--version")
    assert (done.returncode, done.stdout) == (0, f"devfix {package.__version__}\n")


def test_help_costs_no_heavy_import() -> None:
    # An import of one name from a package is an import of all that the package exports.
    light = {"cli", "fleet", "model", "publish", "report"}
    engine = {f"devfix.{each.name}" for each in SOURCE.iterdir() if each.is_dir() and each.name not in light}
    heavy = {"libcst", "torch", "git", "msgspec", "packaging", "jinja2", "ssl", "tomllib", *engine}
    assert "devfix.pipeline" in heavy
    code = f"import sys, devfix.cli as c; c.status(['--help']); print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert done.stdout.endswith("[]\n")


@pytest.mark.slow
def test_a_repair_begins_without_the_parts_of_libcst_that_few_fixes_need() -> None:
    heavy = "{'libcst.codemod', 'libcst.matchers', 'torch'}"
    words = f"import sys, devfix.pipeline; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_current_folder_that_was_deleted_is_one_line(tmp_path: Path) -> None:
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" -m devfix repair .'
    told = subprocess.run(["sh", "-c", script, sys.executable], cwd=tmp_path, capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == "devfix: the current folder was deleted: change to one that exists\n"
