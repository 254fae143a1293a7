"""Programs that do not end after a device failure, since a task or a thread has died that another one waits for."""

from __future__ import annotations

from pathlib import Path

import pytest
from verdict_programs import project
from waiting import HANGS

import devfix
from devfix.model import Outcome

pytestmark = pytest.mark.slow

LIMIT = 20.0  # seconds, of which each run without the fix takes all
BEGIN = """import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
weight = torch.ones(3, device=device)


def total(bias):
    return (weight + torch.arange(3.0) + bias).sum().item()

"""
WAITING = {
    "a task": """
import asyncio


async def work(jobs, done):
    while True:
        done.put_nowait(total(await jobs.get()))


async def main():
    jobs, done = asyncio.Queue(), asyncio.Queue()
    task = asyncio.create_task(work(jobs, done))
    jobs.put_nowait(1.0)
    print(await done.get())
    task.cancel()


asyncio.run(main())
""",
    "a thread": """
import queue, threading

done = queue.Queue()
threading.Thread(target=lambda: done.put(total(1.0)), daemon=True).start()
print(done.get())
""",
}
CATCHES = """
import time

try:
    total(1.0)
except RuntimeError:
    pass
time.sleep(600)
"""


@pytest.mark.parametrize(("name", "limit"), [("a task", LIMIT), ("a thread", HANGS)])
def test_what_keeps_it_from_ending_is_repaired(name: str, limit: float, tmp_path: Path) -> None:
    """The time limit need not pass: a program that does nothing after the failure is ended before."""
    root = project(tmp_path, BEGIN + WAITING[name])
    report = devfix.repair(root, run="python main.py", world="simulated", timeout=limit, dry_run=True)
    assert report.outcome == "repaired", (report.repairs, report.notes)
    assert "+    return (weight + torch.arange(3.0, device=weight.device) + bias).sum().item()" in report.diff
    assert any("after the failure the program does not end" in note for note in report.notes)


def test_one_that_does_not_end_without_a_gpu_either_is_told(tmp_path: Path) -> None:
    root = project(tmp_path, BEGIN + CATCHES)
    report = devfix.repair(root, run="python main.py", world="simulated", timeout=LIMIT, dry_run=True)
    assert report.outcome == "error" and report.last_run is not None
    assert report.last_run.outcome is Outcome.TIMEOUT
    assert any("catches a device failure at main.py:8" in note and "--include-handled" in note for note in report.notes)
