"""Taking a fix: the question in a terminal, and the options that answer it beforehand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_programs import MOVED, repair
from git_repositories import fingerprint, git, make_repository
from terminals import in_terminal

from devfix.cli import status
from devfix.cli.repairing.decide import QUESTION
from devfix.cli.repairing.taking import Answers, answers, asks
from devfix.model import Taking
from devfix.report.render.machine_readable.json import read

PROGRAM = MOVED + "y = torch.arange(2)\nprint((x + y).sum().item())\n"
REPAIR = ("repair", ".", "--world", "simulated", "--run", "python main.py")
TERMINAL = {"TERM": "xterm", "CI": "", "NO_COLOR": ""}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "program", {"main.py": PROGRAM})


def files(root: Path) -> dict[str, tuple[int, str]]:
    return {name: state for name, state in fingerprint(root).items() if not name.startswith(".git")}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--apply", "--dry-run"], "--apply and --dry-run contradict each other"),
        (["--apply", "--take", "branch"], "--apply and --take branch contradict each other"),
        (["--apply", "--branch", "mine"], "--apply creates no branch, so --branch mine has no effect"),
        (["--candidate", "0"], "--candidate 0: give a number from 1, or FAILURE:NUMBER"),
        (["--candidate", "second"], "--candidate second: give a number from 1"),
        (["--take", "master"], "Invalid value for '--take'"),
    ],
)
def test_contradicting_options_are_wrong_usage(
    arguments: list[str], words: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["repair", str(root), *arguments]) == 2
    said = capsys.readouterr()
    assert words in said.err and said.err.count("\n") == 1 and said.out == ""


def test_nothing_to_undo_is_told_in_one_line(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["undo", str(root)]) == 2
    assert "nothing to undo; devfix repair --apply" in capsys.readouterr().err


@pytest.mark.slow
def test_apply_changes_the_files_and_undo_takes_it_back(root: Path) -> None:
    before = files(root)
    done = repair(root, "--apply")
    assert done.returncode == 0 and "Applied to the working tree: main.py. No branch created." in done.stdout
    assert git(root, "branch", "--list") == "* main" and git(root, "status", "--short") == "M main.py"
    ran = subprocess.run(
        [sys.executable, "-m", "devfix", "run", "--world", "simulated", "--", "python", "main.py"],
        cwd=root, capture_output=True,
    )  # fmt: skip
    assert ran.returncode == 0
    undone = subprocess.run([sys.executable, "-m", "devfix", "undo"], cwd=root, capture_output=True, text=True)
    assert undone.returncode == 0 and undone.stdout.startswith(
        "Restored main.py: without the fixes of `python main.py`"
    )
    assert files(root) == before


@pytest.mark.slow
def test_apply_refuses_in_one_line_and_the_report_has_the_fix(root: Path) -> None:
    (root / "main.py").write_text(PROGRAM.replace("arange(2)", "arange(2) + 1"))
    before = fingerprint(root)
    done = repair(root, "--apply", "--format", "json")
    data = read(done.stdout)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"devfix: {data.not_applied}"
    assert "main.py: has uncommitted changes in the lines of the fix; commit or stash" in data.not_applied
    assert data.fixes and data.applied == () and data.branch == "" and fingerprint(root) == before


@pytest.mark.slow
def test_another_candidate_is_kept_and_one_that_is_not_there_is_told(root: Path) -> None:
    second = read(repair(root, "--dry-run", "--candidate", "2", "--format", "json").stdout)
    assert second.fixes[0].verdict.outcome == "verified" and second.fixes[0].verdict.worlds["cuda x2"] == "clean"
    assert [each.title for each in second.rejected if each.verdict.reason == "another candidate was chosen"]
    done = repair(root, "--candidate", "99")
    assert done.returncode == 2 and re.search(r"--candidate 1:99: \d+ candidates are verified", done.stderr)
    assert git(root, "branch", "--list") == "* main"


@pytest.mark.slow
def test_a_session_at_the_keyboard(root: Path, tmp_path: Path) -> None:
    """Another candidate, an edit that does not hold, one that does, a refused application, and Enter for the branch."""
    editor, edits = tmp_path / "editor", tmp_path / "edits"
    editor.write_text(f'#!/bin/sh\nsed -i "s/arange(2.*)/$(sed -n 1p {edits})/" "$1"\nsed -i 1d {edits}\n')
    editor.chmod(0o755)
    edits.write_text("arange(3)\narange(2).cuda()\n")
    (root / "main.py").write_text(PROGRAM.replace("arange(2)", "arange(2) + 1"))
    before = files(root)
    keys = [(QUESTION, key) for key in "xneea\r"]
    code, shown = in_terminal(REPAIR, root, keys, {**TERMINAL, "EDITOR": str(editor)})
    assert code == 0
    assert shown.count("Repaired: 1 device failure, 1 fix.") == 3  # at first, with the next one, and edited
    assert "\x1b[32m+y = torch.arange(2, device=" in shown
    assert "devfix: the edited fix is not verified" in shown
    assert "devfix: main.py: has uncommitted changes in the lines of the fix" in shown
    assert files(root) == before
    branch = git(root, "branch", "--list", "--format=%(refname:short)", "devfix/*")
    assert "y = torch.arange(2).cuda()\n" in git(root, "show", f"{branch}:main.py") + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("key", ["q", "\x03"])
def test_quitting_and_interrupting_leave_everything(root: Path, key: str) -> None:
    before = fingerprint(root)
    code, shown = in_terminal(REPAIR, root, [(QUESTION, key)], TERMINAL)
    assert code == (0 if key == "q" else 130) and ("No branch created." in shown) is (key == "q")
    assert fingerprint(root) == before


@pytest.mark.slow
def test_nobody_is_asked_in_continuous_integration(root: Path) -> None:
    code, shown = in_terminal(REPAIR, root, [], {**TERMINAL, "CI": "true"})
    assert code == 0 and QUESTION not in shown and "Created branch " in shown


@pytest.mark.parametrize(
    ("options", "take"),
    [
        ({}, None),
        ({"branch": "mine"}, Taking.BRANCH),
        ({"dry_run": True}, Taking.NONE),
        ({"apply": True}, Taking.APPLY),
        ({"take": Taking.APPLY, "apply": True}, Taking.APPLY),
    ],
)
def test_what_is_said_beforehand_is_not_asked(options: dict[str, Any], take: Taking | None) -> None:
    given = {"take": None, "apply": False, "dry_run": False, "branch": None, "candidate": ["2", "3:1"], **options}
    assert answers(**given) == Answers(take, {1: 2, 3: 1})
    assert asks(answers(**given), is_text=True) is False  # the tests have no terminal
