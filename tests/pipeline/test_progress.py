"""What is shown of a repair while it goes on: in a terminal, without one, and to a caller in Python."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from git_repositories import make_repository

import devfix
from devfix.cli.output import screen
from devfix.progress import LastLine, Progress, duration

WAITS = """\
import sys, time
from devfix.cli.output.screen import progress

with progress() as shown:
    shown("trying candidates")
    shown.candidates(3, 4, 24, "Move `x` to `device`")
    with shown.running("cuda x1", True) as line:
        line.hear(1, b"epoch 3, loss 0.5\\n")
        print("under way", flush=True)
        sys.stdin.read()
"""


def test_the_runs_under_way_and_the_candidate_are_told() -> None:
    steps: list[str] = []
    shown = Progress(steps.append)
    shown("trying candidates")
    with shown.running("cuda x1", True):
        assert shown.summary() == "trying candidates; on cuda x1 for 0 s"
    shown.candidates(2, 2, 7, "Move `x` to `device`")
    with shown.running("cuda x1", False), shown.running("cpu", False):
        assert shown.summary() == (
            "trying candidates; candidate 2 of at most 7: Move `x` to `device`; on cuda x1 for 0 s; on cpu for 0 s; "
            "a plain run took 0 s on cuda x1"
        )
    with shown.running("cpu", False) as line:
        line.hear(1, b"step 1\nst")
        assert shown.summary().endswith("; it prints: st")
        line.hear(1, b"ep 2\n\n")
        assert shown.summary().endswith("; it prints: step 2")
    shown("writing a test")
    assert shown.summary() == "writing a test; a plain run took 0 s on cuda x1"
    assert steps == ["trying candidates", "writing a test"]


@pytest.mark.parametrize(
    ("pieces", "last"),
    [
        ([(1, b"one\n"), (2, b"warning\n")], "warning"),
        ([(1, b"loss 0."), (2, b"x\n"), (1, b"5\n")], "loss 0.5"),
        ([(2, b" 10%|#   |\r"), (2, b" 20%|##  |\r")], "20%|##  |"),
        ([(1, b"\x1b[32mgreen\x1b[0m\n\x1b]0;title\x07")], "green"),
        ([(1, b"\xff\n")], "\ufffd"),
        ([(1, b"a" * 10**6)], "a" * 500),
        ([(1, b"\n \r\n")], ""),
    ],
)
def test_the_last_line_is_put_together(pieces: list[tuple[int, bytes]], last: str) -> None:
    line = LastLine()
    for stream, data in pieces:
        line.hear(stream, data)
    assert line.text == last


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (600, "10 min 0 s"), (7300, "2 h 1 min")]
)
def test_times_are_told_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_without_a_terminal_a_long_step_is_told_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(screen, "QUIET", 0.05)
    last = re.compile(
        r"^devfix: .*trying candidates; candidate 1 of at most 24: Move `x` .*on cuda x2 for", re.MULTILINE
    )
    said = ""
    with screen.progress() as shown:
        shown("trying candidates")
        shown.candidates(1, 1, 24, "Move `x` to `device`")
        with shown.running("cuda x2", False):
            while not last.search(said):  # a loaded machine may tell the steps before this one too
                time.sleep(0.05)
                said += capfd.readouterr().err
    assert said.startswith("devfix: 0 s: ")
    assert all(line.startswith("devfix: ") for line in said.splitlines())


def test_a_terminal_shows_elapsed_time_world_and_candidate() -> None:
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    live = re.compile(
        rb"[1-9]\d* s: trying candidates; candidates 3 and 4 of at most 24: Move `x` .* on cuda x1 for [1-9]\d* s"
        rb"; it prints: epoch 3, loss 0.5"
    )
    with subprocess.Popen(
        [sys.executable, "-c", WAITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=follower, env=environment
    ) as program:
        os.close(follower)
        shown = b""
        while not live.search(shown) and len(shown) < 100_000:
            shown += os.read(leader, 4096)
        program.kill()
    os.close(leader)
    assert live.search(shown)


@pytest.mark.slow
def test_a_repair_tells_which_candidate_it_tries_and_what_a_plain_run_took(tmp_path: Path) -> None:
    seen: list[str] = []

    class Noting(Progress):
        """Notes what could be shown as candidates begin."""

        def candidates(self, first: int, last: int, most: int, title: str) -> None:
            super().candidates(first, last, most, title)
            seen.append(self.summary())

    program = "import torch\nx = torch.ones(2, device='cuda')\ny = torch.arange(2)\nprint((x + y).sum().item())\n"
    root = make_repository(tmp_path / "program", {"main.py": program})
    report = devfix.repair(
        root, run="python main.py", world="simulated", dry_run=True, progress=Noting(lambda step: None)
    )
    assert report.outcome == "repaired"
    assert seen[0].startswith("trying candidates; candidate 1 of at most ")
    assert re.search(r"; a plain run took .* s on cuda x1", seen[0])


@pytest.mark.slow
def test_the_terminal_shows_what_the_program_prints_while_it_runs(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    program = f"""
    import os, sys, time, torch
    print("epoch 7 of 9", flush=True)
    while not os.path.exists({str(gate)!r}):
        time.sleep(0.05)
    (torch.ones(2, device="cuda") + torch.arange(2)).sum().item()
    """
    root = make_repository(tmp_path / "program", {"main.py": textwrap.dedent(program)})
    arguments = ["repair", str(root), "--run", "python main.py", "--world", "simulated", "--dry-run", "--no-test"]
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    command = [sys.executable, "-m", "devfix", *arguments]
    shown = b""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=follower, env=environment
    ) as repair:
        os.close(follower)
        while b"it prints: epoch 7 of 9" not in shown:
            shown += os.read(leader, 4096)
        gate.touch()
        while _rest(leader):
            pass
    os.close(leader)
    assert b"running python main.py on cuda x1" in shown
    assert repair.returncode == 0


def _rest(leader: int) -> bytes:
    try:
        return os.read(leader, 4096)
    except OSError:  # nobody has the other end open
        return b""
