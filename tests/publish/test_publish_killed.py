"""`devfix publish` is killed at many of its steps: the clone stays, nothing is left, and the next run ends well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from forge_server import ForgeServer
from git_repositories import fingerprint, git
from github_server import GitHub
from programs import FIRST, History

pytestmark = pytest.mark.slow

POINTS = 40 if os.environ.get("DEVFIX_HARM_POINTS") else 6
KILLED = Path(__file__).parents[1] / "helpers" / "kill_at_step.py"


def test_killed_at_any_step_it_is_made_good_by_the_next(
    history: History, forge: ForgeServer | GitHub, kind: str, tmp_path: Path
) -> None:
    report, scratch, counted = history.artifact(tmp_path / "r.json", FIRST), tmp_path / "scratch", tmp_path / "counted"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONDONTWRITEBYTECODE": "1"}
    before = fingerprint(history.folder)

    def publish(step: int = 0, number: str = "SIGKILL", *more: str) -> int:
        command = [sys.executable, str(KILLED), str(step), number, str(counted)]
        words = ["publish", str(report), "--remote", forge.url, "--forge", kind, *more]
        done = subprocess.run([*command, *words], env=environment, capture_output=True, text=True)
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode

    assert publish(0, "SIGKILL", "--dry-run") == 0
    steps = int(counted.read_text())
    for point in range(POINTS):
        step, number = 1 + (2 * point + 1) * steps // (2 * POINTS), ("SIGKILL", "SIGINT", "SIGTERM")[point % 3]
        at = f"{number} at step {step} of {steps}"
        assert publish(step, number) in (0, -9, 130, 143), at
        assert fingerprint(history.folder) == before, at
        assert number == "SIGKILL" or not list(scratch.iterdir()), at
        for branch in set(forge.branches()) - {"main"}:
            assert git(forge.bare, "diff", "--stat", "main", branch).count("|") == 1, at
        assert len(forge.pulls) <= 1, at
    assert publish() == 0
    assert len(forge.pulls) == 1 and forge.pulls[0]["state"] == "open" and len(set(forge.branches()) - {"main"}) == 1
    assert not list(scratch.iterdir()) and fingerprint(history.folder) == before
