"""Findings are confirmed two at once, those that cannot be beside another one by themselves; an interrupt ends both."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest
from git_repositories import git
from searches import command, find, searched_repository
from waiting import until

EXCLUSIVE = """
import os, time, torch
from library import {function}

def test_{function}():
    taken = {taken!r}
    os.mkdir(taken)
    try:
        time.sleep(1.5)
        {function}(torch.ones(2))
    finally:
        os.rmdir(taken)
"""

WAITS_ALONE = """
import pathlib, time, torch
from library import {function}

def test_{function}(request):
    if len(request.session.items) == 1 and torch.ones(1).is_cuda:
        pathlib.Path({waits!r}).touch()
        while True:
            time.sleep(0.01)
    {function}(torch.ones(2))

def test_other():
    pass
"""


@pytest.mark.slow
def test_tests_that_cannot_run_beside_each_other_are_confirmed_one_by_one(tmp_path: Path) -> None:
    taken = str(tmp_path / "taken")
    both = {name: EXCLUSIVE.format(function=name, taken=taken) for name in ("shifted", "scaled")}
    told = find(searched_repository(tmp_path, **both), "--no-silent")
    assert sorted((found["line"], found["confirmed"]) for found in told["findings"]) == [(5, True), (8, True)]


@pytest.mark.slow
def test_an_interrupt_ends_both_confirmations(tmp_path: Path) -> None:
    waits = {name: tmp_path / f"{name}-waits" for name in ("shifted", "scaled")}
    both = {name: WAITS_ALONE.format(function=name, waits=str(path)) for name, path in waits.items()}
    root = searched_repository(tmp_path, **both)
    running = subprocess.Popen(
        [*command(root), "--no-silent"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until(lambda: all(path.exists() for path in waits.values()) or running.poll() is not None)
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate()
    told = json.loads(output)
    assert running.returncode == 1 and told["interrupted"], errors
    assert [found["confirmed"] for found in told["findings"]] == [False, False]
    assert git(root, "status", "--porcelain=v1") == "" and git(root, "worktree", "list").count("\n") == 0
