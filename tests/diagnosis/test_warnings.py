"""A dead guard that a run passes is told, and never changed; one that may be alive is not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import devfix

pytestmark = pytest.mark.slow

GUARD = """import torch


class Encoder(torch.nn.Linear):
    @property
    def device(self):
        return self.weight.device


def encode(module, rows, device):
    if module.device == "cpu":
        module.to(device)
    return module(rows.to(module.weight.device)).sum()


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
encoder = Encoder(2, 2)
"""
CLEAN = GUARD + "print(encode(encoder, torch.ones(1, 2), device).item())\n"
FAILS = GUARD + "encoder.to(device)\nprint((encode(encoder, torch.ones(1, 2), device) * torch.ones(1)).sum().item())\n"
TEXT = """import types

import torch

settings = types.SimpleNamespace(device="cuda" if torch.cuda.is_available() else "cpu")
if settings.device == "cpu":
    print("slow")
print(torch.ones(2, device=settings.device).sum().item())
"""


def repaired(folder: Path, program: str) -> devfix.Report:
    (folder / "main.py").write_text(program)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    return devfix.repair(folder, run="python main.py", world="simulated")


@pytest.mark.parametrize(("program", "outcome"), [(CLEAN, "clean"), (FAILS, "repaired")], ids=["clean", "repaired"])
def test_a_dead_guard_is_told_and_left(tmp_path: Path, program: str, outcome: str) -> None:
    report = repaired(tmp_path, program)
    assert report.outcome == outcome
    told = [note for note in report.notes if note.startswith("main.py:11: ")]
    assert told and '`module.device == "cpu"` is never true' in told[0] and "`module.device.type" in told[0]
    assert told[0].endswith("Not changed, since no run fails by it (device/compared-with-string).")
    assert ".type" not in report.diff


def test_a_string_may_equal_a_string(tmp_path: Path) -> None:
    report = repaired(tmp_path, TEXT)
    assert report.outcome == "clean" and not any("main.py:" in note for note in report.notes)
