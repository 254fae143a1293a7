"""Inference mode: autograd does not part composite operators there, and views of ordinary tensors stay ordinary."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_programs import run_program

from devfix.execution.prefork import PreforkServer

PROGRAM = """import torch
weights = torch.arange(6.0, device="cuda").view(2, 3)
host = torch.ones(3)
with torch.inference_mode():
    for _ in range(3):
        moved = host.to("cuda")
    row = weights[1]
    print(row.is_inference(), moved.is_inference(), (row * moved).tolist(), moved.to("cuda") is moved)
    print(weights[None, 0].view(-1).expand(2, 3).sum().item())
"""


@pytest.mark.slow
def test_moves_are_counted_and_views_taken_in_inference_mode(tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(tmp_path, PROGRAM, warm=warm)
    assert ran.done.stdout == "False True [3.0, 4.0, 5.0] True\n6.0\n", ran.done.stderr
    moves = [each for each in ran.trace["transfers"] if each["direction"] == "to-device"]
    assert [(each["place"]["line"], each["count"], each["bytes"]) for each in moves] == [(6, 3, 36)]
