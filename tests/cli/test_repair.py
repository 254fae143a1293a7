"""`devfix repair` as a user runs it, from the command line to the exit code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import waiting
from cli_programs import MOVED, repair
from git_repositories import fingerprint, git, make_repository

from devfix.cli import status
from devfix.report.render.machine_readable.json import read

HELLO = Path(__file__).resolve().parents[2] / "corpus" / "hello"


@pytest.fixture
def hello(tmp_path: Path) -> Path:
    files = {path.name: path.read_bytes() for path in HELLO.glob("*.py")}
    return make_repository(tmp_path / "hello", files)


@pytest.mark.exhaustive
def test_two_failures_become_two_commits_and_one_json_object(hello: Path) -> None:
    (hello / "notes.txt").write_text("not committed\n")
    before = fingerprint(hello)
    done = repair(hello, "--format", "json", run="python train.py --epochs 1")
    data = read(done.stdout)
    assert (done.returncode, data.outcome) == (0, "repaired")
    assert [fix.rule for fix in data.fixes] == ["placement/input-not-moved", "placement/factory-without-device"]
    assert [edit.path for fix in data.fixes for edit in fix.edits] == ["train.py", "model.py"]
    assert set(data.fixes[1].verdict.worlds.values()) == {"clean"}
    assert any("notes.txt" in note for note in data.notes)
    assert git(hello, "log", "--format=%H", "--reverse", f"main..{data.branch}").split() == list(data.commits)
    assert git(hello, "diff", "--stat", f"main...{data.branch}").count("|") == 2
    subject = git(hello, "log", "-1", "--format=%s", data.commits[0])
    assert subject == data.fixes[0].title

    # Nothing that the user has is different, but for the branch.
    after = fingerprint(hello)
    assert {path for path in before if before[path] != after.get(path)} <= {".git", ".git/objects", ".git/refs/heads"}
    assert git(hello, "branch", "--show-current") == "main"
    assert git(hello, "status", "--short") == "?? notes.txt"

    # The branch runs: a repair of it finds nothing to do.
    git(hello, "checkout", "--quiet", data.branch)
    again = repair(hello, run="python train.py --epochs 1")
    assert again.returncode == 0
    assert again.stdout.startswith("Nothing to repair")


@pytest.mark.slow
def test_a_dry_run_prints_the_diff_and_leaves_no_trace(tmp_path: Path) -> None:
    program = MOVED + "y = torch.arange(2)\nprint((x + y).sum().item())\n"
    root = make_repository(tmp_path / "program", {"main.py": program})
    before = fingerprint(root)
    done = repair(root, "--dry-run", "--explain-rules")
    assert done.returncode == 0
    section = done.stdout[done.stdout.index("Rules for failure 1: ") :]
    assert "  placement/factory-without-device: blamed, " in section and "      kept: " in section
    assert "declined without a reason: " in section
    assert "-y = torch.arange(2)\n" in done.stdout
    assert "No branch created" in done.stdout
    assert fingerprint(root) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "arguments", "code", "words"),
    [
        (MOVED, [], 0, "Nothing to repair"),
        (MOVED + "{}['ids']\n", [], 1, "KeyError: 'ids'"),
        ("import torch, sys\nsys.exit(7)\n", [], 1, "exit code 7"),
        ("import torch, time\ntime.sleep(600)\n", ["--timeout", "6"], 1, "--timeout raises it"),
        ("import os, torch\nos.kill(os.getpid(), 11)\n", [], 1, "killed by SIGSEGV"),
        ("print('no torch here')\n", [], 0, "Nothing to repair"),
        ("def (:\n", [], 1, "SyntaxError"),
    ],
)
def test_what_needs_no_fix_gets_none(tmp_path: Path, program: str, arguments: list[str], code: int, words: str) -> None:
    root = make_repository(tmp_path / "program", {"main.py": program})
    before = fingerprint(root)
    done = repair(root, *arguments)
    assert words in done.stdout
    assert done.returncode == code, done.stdout + done.stderr
    assert fingerprint(root) == before


@pytest.mark.slow
def test_a_failure_without_a_fix_that_holds_exits_1_and_makes_no_branch(tmp_path: Path) -> None:
    program = "import torch\nx = torch.ones(2, device='cuda')\nx.numpy()\n"
    root = make_repository(tmp_path / "program", {"main.py": program})
    before = fingerprint(root)
    done = repair(root, "--exclude", "*.py")
    assert done.returncode == 1
    assert "Not repaired" in done.stdout
    assert "x.numpy()" in done.stdout
    assert fingerprint(root) == before


@pytest.mark.slow
def test_without_a_terminal_a_short_repair_is_quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("devfix.cli.output.screen.QUIET", waiting.HANGS)
    root = make_repository(tmp_path / "program", {"main.py": MOVED})
    command = ["repair", str(root), "--run", "python main.py", "--world", "simulated", "--format", "json"]
    assert status(command) == 0
    told = capsys.readouterr()
    assert (read(told.out).outcome, told.err) == ("clean", "")


@pytest.mark.slow
def test_an_interpreter_without_torch_is_wrong_usage(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "program", {"main.py": MOVED})
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    done = repair(root, "--python", str(tmp_path / "bare" / "bin" / "python"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no torch" in done.stderr


@pytest.mark.slow
def test_without_run_the_entry_points_are_tried_and_named(tmp_path: Path) -> None:
    guard = "if __name__ == '__main__':\n    "
    files = {
        "first.py": f"import torch\n{guard}raise SystemExit('needs --data')\n",
        "second.py": MOVED + guard + "pass\n",
    }
    root = make_repository(tmp_path / "program", files)
    command = [sys.executable, "-m", "devfix", "repair", str(root), "--world", "simulated"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert "first.py" in done.stdout
    assert "second.py" in done.stdout


HALF = {
    "main.py": b"""import torch

import vendored

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(3, 2).to(device)
rows = torch.ones(4, 3)
print(model(rows).shape)
print(vendored.noise(device))
""",
    "vendored.py": b"""import torch


def noise(device):
    return (torch.ones(2).to(device) + torch.ones(2)).sum().item()
""",
}


@pytest.mark.exhaustive
def test_a_repair_that_gets_half_the_way_says_how_to_keep_its_proven_part(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "half", HALF)
    done = repair(root, "--format", "json", "--exclude", "vendored.py")
    data = read(done.stdout)
    assert (done.returncode, data.outcome, data.branch) == (1, "unrepaired", "")
    assert any("--partial keeps the 1 fix proven before it" in note for note in data.notes)


@pytest.mark.slow
def test_a_repair_that_gets_half_the_way_leaves_its_proven_part_on_request(tmp_path: Path) -> None:
    root, folder = make_repository(tmp_path / "half", HALF), tmp_path / "left"
    words = ("--exclude", "vendored.py", "--partial", "--branch", "half", "--output", str(folder))
    done = repair(root, *words)
    assert done.returncode == 1
    assert done.stdout.startswith("Partly repaired: 1 of 2 failures fixed.")
    assert "Created branch half (1 commit)." in done.stdout
    data = read((folder / "report.json").read_text())
    assert (data.outcome, data.branch, len(data.commits), len(data.fixes)) == ("partial", "half", 1, 1)
    assert git(root, "diff", "--name-only", "main...half").split() == ["main.py"]
    assert "Partly repaired" in (folder / "summary.md").read_text()
    assert len(list((folder / "patches").iterdir())) == 1
