"""Memory that a program leaves uninitialized is the same in each run whose computations are compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_programs import run_program

from devfix.execution.prefork import PreforkServer

MAKERS = [
    "torch.empty(1000)",
    "torch.empty_like(table)",
    "table.new_empty(1000)",
    "torch.empty_strided((10, 100), (100, 1))",
    "torch.Tensor(1000)",
    "torch.empty(1000, dtype=torch.long)",
]
PROGRAM = """
import torch

table = torch.zeros(1000)
for make in ({makers},):
    used = [torch.full((1000,), 7.0) for _ in range(50)]
    del used
    print(make().sum().item())
"""


@pytest.mark.parametrize("world", ["cpu", "simulated"])
def test_memory_is_cleared_where_computations_are_summed(world: str, tmp_path: Path, warm: PreforkServer) -> None:
    source = PROGRAM.format(makers=", ".join(f"lambda: {each}" for each in MAKERS))
    ran = run_program(tmp_path, source, warm=warm, world=world, totals=True)
    assert [float(each) for each in ran.done.stdout.split()] == [0.0] * len(MAKERS), ran.done.stderr


def test_what_is_given_as_out_keeps_its_values(tmp_path: Path, warm: PreforkServer) -> None:
    source = "import torch\nx = torch.ones(4)\ntorch.empty(2, out=x[:2])\nprint(x.sum().item())"
    assert run_program(tmp_path, source, warm=warm, world="cpu", totals=True).done.stdout == "4.0\n"
