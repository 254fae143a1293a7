"""Equal programs that draw without a seed, repaired one after the other: chance may drop none of the right fixes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from git_repositories import git, make_repository

UNSEEDED = """import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
layer = nn.Linear(8, 2).to(device)
for step in range(2):
    scale = torch.randint(0, 3, (1,))
    rows = torch.randn(4, 8).to(device)
    scores = layer(rows) * scale
print(tuple(scores.shape))
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", range(12))
def test_a_program_without_a_seed_is_repaired_each_time(number: int, tmp_path: Path) -> None:
    root = make_repository(tmp_path / "program", {"main.py": UNSEEDED})
    command = [sys.executable, "-m", "devfix", "repair", str(root), "--world", "simulated", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    data = json.loads(done.stdout)
    assert data["outcome"] == "repaired", (data["rejected"], done.stderr)
    assert "to(" in git(root, "diff", f"HEAD...{data['branch']}", "--", "main.py")
    assert any("torch.manual_seed(0)" in note for note in data["notes"])
