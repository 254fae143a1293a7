"""Programs that ask for more GPUs than the world has: run in one that has them, unless a person has said how many."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from git_repositories import make_repository

import devfix
from devfix.report.render.machine_readable.json import read, write
from devfix.report.types import ReportRecord

HALVES = """\
import torch
from torch import nn


class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8).to("cuda:0")
        self.second = nn.Linear(8, 2).to("cuda:1")

    def forward(self, x):
        hidden = self.first(x.to("cuda:0"))
        return self.second(hidden)


torch.manual_seed(0)
print(Halves()(torch.randn(3, 4)).shape)
"""
OWN_CHECK = """\
import torch

if torch.cuda.device_count() < 3:
    raise SystemExit("this script needs 3 GPUs")
print(torch.ones(2, device="cuda:2").sum().item())
"""
RANKS = """\
import os, sys
import torch
import torch.multiprocessing as mp


def work(rank, processes):
    torch.cuda.set_device(rank)
    torch.ones(2, device="cuda") + 1


if __name__ == "__main__":
    mp.start_processes(work, args=(3,), nprocs=3, start_method="fork")
"""
LISTED = """\
import os

os.environ["CUDA_VISIBLE_DEVICES"] = "2"
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
print(torch.ones(2, device=device).sum().item())
"""

REASON = "it uses cuda:1 at main.py:9"


def repaired(root: Path, **options: object) -> tuple[devfix.Report, ReportRecord]:
    report = devfix.repair(root, run="python main.py", **options)  # type: ignore[arg-type]
    return report, read(write(report))


@pytest.mark.exhaustive
def test_a_model_on_two_gpus_is_repaired_where_it_has_them(tmp_path: Path) -> None:
    report, data = repaired(make_repository(tmp_path / "program", {"main.py": HALVES}), world="simulated", test=False)
    assert (report.outcome, report.world.gpus) == ("repaired", 2)
    assert "hidden.to(" in report.diff
    assert asdict(data.gpus_needed) == {"given": 1, "needed": 2, "reason": REASON, "met": True}
    assert any("asks for 2 GPUs" in note for note in data.notes)


@pytest.mark.slow
def test_the_number_that_a_person_gives_stays(tmp_path: Path) -> None:
    report, data = repaired(make_repository(tmp_path / "program", {"main.py": HALVES}), world="simulated", gpus=1)
    assert (report.outcome, report.world.gpus) == ("unrepaired", 1)
    assert asdict(data.gpus_needed) == {"given": 1, "needed": 2, "reason": REASON, "met": False}
    assert any("--gpus 2" in note for note in data.notes)


@pytest.mark.slow
@pytest.mark.parametrize(("program", "gpus"), [(OWN_CHECK, 3), (RANKS, 3), (LISTED, 3)])
def test_other_ways_of_asking_for_gpus(tmp_path: Path, program: str, gpus: int) -> None:
    report, _ = repaired(make_repository(tmp_path / "program", {"main.py": program}), world="simulated")
    assert (report.outcome, report.world.gpus) == ("clean", gpus)
    assert report.gpus_needed
    assert (report.gpus_needed.given, report.gpus_needed.needed) == (1, gpus)


@pytest.mark.slow
def test_more_gpus_than_a_common_machine_has_are_not_given_unasked(tmp_path: Path) -> None:
    program = "import torch\nprint(torch.ones(2, device='cuda:40'))\n"
    report, _ = repaired(make_repository(tmp_path / "program", {"main.py": program}), world="simulated")
    assert (report.outcome, report.world.gpus) == ("unrepaired", 1)
    assert report.gpus_needed
    assert (report.gpus_needed.needed, report.gpus_needed.met) == (41, False)


@pytest.mark.slow
def test_a_failure_that_speaks_of_no_gpus_is_run_once(tmp_path: Path) -> None:
    steps: list[str] = []
    program = "import torch\nassert torch.ones(2).sum() == 3, 'two is not enough'\n"
    root = make_repository(tmp_path / "program", {"main.py": program})
    report = devfix.repair(root, run="python main.py", world="simulated", progress=steps.append)
    assert (report.outcome, report.gpus_needed) == ("unrepaired", None)
    assert not any("asks for" in step for step in steps)


@pytest.mark.slow
def test_devfix_run_says_how_many_gpus_are_needed(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(HALVES)
    command = [sys.executable, "-m", "devfix", "run", "--world", "simulated"]
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 300}
    done = subprocess.run([*command, "--", "python", "main.py"], **options)  # type: ignore[call-overload]
    assert "the program asks for 2 GPUs and had 1 GPU (it uses cuda:1 at main.py:9): run it with --" in done.stderr
    assert "To repair it" not in done.stderr
    done = subprocess.run([*command, "--format", "json", "--", "python", "main.py"], **options)  # type: ignore[call-overload]
    assert json.loads(done.stdout)["gpus_needed"]["needed"] == 2
