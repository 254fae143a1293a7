"""PyTorch's profiler in a simulated world: it records the operators, and warns of none."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEGIN = """
import torch
from devfix.probe.simulation import world
world.enter("simulated", 1)
x = torch.ones(4, 4, device="cuda")
"""
PROGRAMS = {
    "both activities": """
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as seen:
    x @ x
""",
    "the GPU alone": """
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CUDA]):
    x @ x
""",
    "by the older interface": """
with torch.autograd.profiler.profile(use_device="cuda") as seen:
    x @ x
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("program", [pytest.param(program, id=name) for name, program in PROGRAMS.items()])
def test_the_profiler_records_without_a_driver(program: str) -> None:
    ends = "\nassert any('mm' in each.key for each in seen.key_averages())\n" if "seen" in program else ""
    done = subprocess.run([sys.executable, "-c", BEGIN + program + ends], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    # Kineto, which logs its starts and a driver that it lacks, says nothing for each operator.
    assert "Failed to record" not in done.stderr and "Warning" not in done.stderr, done.stderr[-2000:]
