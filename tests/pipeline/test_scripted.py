"""Failures inside of what TorchScript has compiled, whose interpreter has no frames."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_programs import run_program
from verdict_programs import project

import devfix
from devfix.execution.prefork import PreforkServer

SCRIPTED = """
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.embed = nn.Embedding(16, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        index = torch.arange(x.shape[1])
        return x + self.embed(index)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.jit.script(Positions(4)).to(device)
print(model(torch.ones(2, 5, 4, device=device)).shape)
model.save("model.pt")
print(torch.jit.load("model.pt", map_location=device)(torch.ones(2, 5, 4, device=device)).shape)
"""
TRACED = SCRIPTED.replace("torch.jit.script(Positions(4))", "torch.jit.trace(Positions(4), torch.ones(2, 5, 4))")
SAVED = """
import torch


@torch.jit.script
def double(x):
    return x * 2


class Model(torch.nn.Module):
    def forward(self, x):
        return double(x)


model = torch.jit.freeze(torch.jit.script(Model().eval()))
model.save("model.pt")
torch.jit.save(torch.jit.script(Model()), "again.pt")
print(type(double).__name__, type(model).__name__)
print([torch.jit.load(name)(torch.ones(1)).item() for name in ("model.pt", "again.pt")])
"""


@pytest.mark.slow
def test_the_line_in_the_script_is_repaired(tmp_path: Path) -> None:
    report = devfix.repair(project(tmp_path, SCRIPTED), run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "repaired"
    assert "+        index = torch.arange(x.shape[1], device=x.device)" in report.diff
    failure = report.repairs[0].failure
    assert failure.at is not None and failure.at.function == "Positions.forward"


@pytest.mark.slow
def test_what_only_python_accepts_is_no_repair(tmp_path: Path) -> None:
    """A trace keeps the device on which it was made, whatever `x.device` is later."""
    report = devfix.repair(project(tmp_path, TRACED), run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "unrepaired" and not report.diff


@pytest.mark.parametrize(("scripts", "kinds"), [(False, "function Model"), (True, "ScriptFunction")])
def test_what_is_not_compiled_can_be_saved(scripts: bool, kinds: str, tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(tmp_path, SAVED, warm=warm, scripts=scripts)
    assert ran.done.stdout.startswith(kinds) and ran.done.stdout.endswith("[2.0, 2.0]\n"), ran.done.stderr
