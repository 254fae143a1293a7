"""`devfix repair --output`, `devfix show`, and a repair from the program to the pull request, all for real."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from git_repositories import fingerprint, git, make_repository
from github_server import TOKEN, github
from programs import FIRST, History, steps

from devfix.cli import status

HELLO = Path(__file__).parents[2] / "corpus" / "hello"


@pytest.mark.slow
def test_a_repair_goes_from_the_program_to_a_pull_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    files = {name: (HELLO / name).read_bytes() for name in ("train.py", "model.py")}
    folder = make_repository(tmp_path / "hello", files)
    found = tmp_path / "found"
    command = ["repair", str(folder), "--run", "python train.py", "--world", "simulated", "--python", sys.executable]
    assert status([*command, "--output", str(found)]) == 0
    assert sorted(path.name for path in found.iterdir()) == ["patches", "report.json", "summary.md"]
    assert status([*command, "--output", str(found)]) == 2
    assert "not empty; choose another" in capfd.readouterr().err
    data = json.loads((found / "report.json").read_text())
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    with github(tmp_path / "hub", folder) as hub:
        git(hub.bare, "branch", "-D", data["branch"])  # cloned with the repository, which has it from the repair
        before = fingerprint(folder)
        assert status(["publish", str(found), "--remote", hub.url, "--format", "json"]) == 0
        (step,) = steps(capfd.readouterr().out)
        assert step["action"] == "opened"
        assert fingerprint(folder) == before
        published = git(hub.bare, "rev-parse", f"{step['branch']}^{{tree}}")
    assert published == git(folder, "rev-parse", f"{data['branch']}^{{tree}}")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(folder), str(clone))
    git(clone, "am", "--quiet", *map(str, sorted((found / "patches").iterdir())))
    assert published == git(clone, "rev-parse", "HEAD^{tree}")
    dry = tmp_path / "dry"
    assert status([*command, "--dry-run", "--output", str(dry)]) == 0
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", str(folder), str(other))
    git(other, "apply", "--index", *map(str, sorted((dry / "patches").iterdir())))
    assert published == git(other, "write-tree")


@pytest.mark.parametrize("format", ["text", "json", "github", "sarif", "codequality", "summary", "outputs"])
def test_a_report_is_shown_in_every_format(
    history: History, tmp_path: Path, format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = history.artifact(tmp_path / "report.json", FIRST)
    assert status(["show", str(report), "--format", format]) == 0
    shown = capsys.readouterr().out
    assert {
        "text": "Repaired: 1 device failure",
        "json": '"devfix-report/1"',
        "github": "::error file=train.py,line=8,",
        "sarif": '"version": "2.1.0"',
        "codequality": '"check_name": "placement/input-not-moved"',
        "summary": "## devfix: Repaired",
        "outputs": "outcome=repaired\nfailures=1\nfixes=1\n",
    }[format] in shown


@pytest.mark.parametrize("kind", ["file", "link", "full"])
def test_a_folder_that_is_none_is_refused_before_anything_runs(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "found"
    if kind == "file":
        target.write_text("mine")
    elif kind == "link":
        target.symlink_to(tmp_path)
    else:
        target.mkdir()
        (target / "mine").touch()
    assert status(["repair", str(tmp_path), "--output", str(target)]) == 2
    assert "--output" in capsys.readouterr().err


def test_an_address_without_a_repository_is_told(
    history: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, nothing = history.artifact(tmp_path / "report.json", FIRST), tmp_path / "nothing"
    assert status(["publish", str(report), "--dry-run", "--format", "patch", "--remote", nothing.as_uri()]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"devfix: {nothing.as_uri()}: not reached (") and said.count("\n") == 1


def test_publishing_needs_neither_torch_nor_a_checkout(history: History, tmp_path: Path) -> None:
    report = history.artifact(tmp_path / "report.json", FIRST)
    code = (
        "import sys, devfix.workspace.git.network as network; network.WAITS = (); from devfix.cli import status;"
        "status(sys.argv[1:]); print('torch' in sys.modules, 'libcst' in sys.modules)"
    )
    command = [
        sys.executable,
        "-c",
        code,
        "publish",
        str(report),
        "--dry-run",
        "--remote",
        "http://127.0.0.1:9/ada/model",
    ]
    empty = tmp_path / "empty"
    empty.mkdir()
    done = subprocess.run(command, cwd=empty, capture_output=True, text=True)
    assert done.stdout.split()[-2:] == ["False", "False"], done.stderr
    assert "http://127.0.0.1:9/ada/model: not reached (unable to access" in done.stderr, "and no internal error"
    assert done.stderr.endswith("check the address and the network\n")
    assert shutil.which("git") is not None
