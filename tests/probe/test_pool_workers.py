"""Workers of a pool that is left, and so terminated, as soon as their results are there."""

from __future__ import annotations

from pathlib import Path

import pytest
from verdict_programs import project

import devfix

pytestmark = pytest.mark.slow

WORK = """import signal

import torch

SCALE = torch.tensor([1.0, 2.0])


def score(row):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return (torch.tensor(row, device=device) * SCALE).sum().item(), signal.getsignal(signal.SIGTERM).name
"""
MAIN = """import multiprocessing

from work import score

if __name__ == "__main__":
    with multiprocessing.get_context("METHOD").Pool(2) as pool:
        print(pool.map(score, [[1.0, 2.0], [3.0, 4.0]]))
"""


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_what_they_did_counts_and_tasks_see_no_handler(method: str, tmp_path: Path) -> None:
    root = project(tmp_path, MAIN.replace("METHOD", method), **{"work.py": WORK})
    report = devfix.repair(root, run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "repaired", (report.repairs, report.notes)
    assert "* SCALE.to(device)" in report.diff and report.last_run is not None
    assert report.last_run.stdout == "[(5.0, 'SIG_DFL'), (11.0, 'SIG_DFL')]\n"
