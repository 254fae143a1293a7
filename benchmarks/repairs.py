"""Make repositories, repair them by the command line, and read the branch that comes of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def make_repository(files: Path, folder: Path) -> None:
    """Copy a program to a folder, which becomes a git repository with one commit."""
    shutil.copytree(files, folder, ignore=shutil.ignore_patterns("case.toml", "__pycache__"))
    identity = ("-c", "user.name=corpus", "-c", "user.email=corpus@localhost")
    for command in (("init", "--quiet"), ("add", "--all"), (*identity, "commit", "--quiet", "--message", "case")):
        subprocess.run(("git", "-C", folder, *command), check=True, capture_output=True)


def repair(folder: Path, arguments: list[str], limit: float = 3600) -> tuple[dict[str, Any], float]:
    """The report of `devfix repair` on a folder, and the seconds it took; `outcome` is "crashed" where none came."""
    command = [sys.executable, "-m", "devfix", "repair", str(folder), *arguments, "--format", "json"]
    began = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        report = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        report = report or {"outcome": "crashed", "notes": [done.stderr[-2000:]]}
    except subprocess.TimeoutExpired:
        report = {"outcome": "crashed", "notes": [f"no report within {limit:.0f} s"]}
    return report, time.monotonic() - began


def branch_diff(folder: Path, report: dict[str, Any]) -> str:
    """What the branch of a report changes, as git tells it: the report's own word is not taken for it.

    What it adds, the test of a fix, is none of the program.
    """
    if not report.get("branch"):
        return ""
    changed = ("diff", "--no-ext-diff", "--unified=1", "--diff-filter=M", f"HEAD...{report['branch']}")
    return subprocess.run(("git", "-C", folder, *changed), check=True, capture_output=True, text=True).stdout
