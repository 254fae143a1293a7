"""Programs that draw random numbers without a seed: reported by the probe, and compared in runs that are seeded."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_programs import run_program

from devfix.execution.prefork import PreforkServer

DRAWS = {
    "import torch\ntorch.rand(3)": ["torch"],
    "import torch\ntorch.nn.Linear(2, 2)": ["torch"],
    "import torch\ntorch.ones(3, device='cuda').uniform_()": ["torch"],
    "import torch\ntorch.nn.functional.dropout(torch.ones(9))": ["torch"],
    "import torch\ntorch.seed(), torch.randperm(5)": ["torch"],
    "import torch\ntorch.randperm(5), torch.manual_seed(0)": ["torch"],
    "import torch, random\nrandom.random()": ["random"],
    "import torch, random\nrandom.shuffle([1, 2, 3]), random.seed(0)": ["random"],
    "import torch, random\nrandom.seed(), random.random()": ["random"],
    "import torch, numpy\nnumpy.random.rand(2)": ["numpy"],
    "import torch, numpy\nnumpy.random.default_rng().random()": ["numpy"],
    "import torch, numpy\nnumpy.random.shuffle([1, 2, 3]), numpy.random.seed(3)": ["numpy"],
    "import torch, numpy, random\nrandom.choice([1, 2]), torch.rand(1), numpy.random.rand()": [
        "numpy",
        "random",
        "torch",
    ],
}
SEEDED = [
    "import torch\ntorch.manual_seed(3)\ntorch.rand(3), torch.nn.Linear(2, 2), torch.ones(3, device='cuda').uniform_()",
    "import torch\ntorch.cuda.manual_seed(3)\ntorch.rand(3, device='cuda')",
    "import torch\ntorch.rand(3, generator=torch.Generator().manual_seed(3))",
    "import torch\ntorch.ones(3), torch.zeros(2).fill_(1)",
    "import torch, random\nrandom.seed(3), random.random(), random.Random(2).random()",
    "import torch, numpy\nnumpy.random.seed(3), numpy.random.rand(), numpy.random.default_rng(3).random()",
    "import torch, numpy, random\nnumpy.random, random.getstate()",
    "import torch\nfrom torch.utils.data import DataLoader\nlist(DataLoader(torch.ones(4, 2)))",
]


@pytest.mark.parametrize(("program", "names"), DRAWS.items())
def test_a_draw_without_a_seed_is_told(program: str, names: list[str], tmp_path: Path, warm: PreforkServer) -> None:
    assert run_program(tmp_path, program, warm=warm, totals=True).trace["unseeded"] == names


@pytest.mark.parametrize("program", SEEDED)
def test_a_draw_from_a_seeded_generator_is_not(program: str, tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(tmp_path, program, warm=warm, totals=True)
    assert ran.done.exit_code == 0 and ran.trace["unseeded"] == [], ran.done.stderr


@pytest.mark.slow
def test_runs_with_a_seed_draw_the_same_numbers(tmp_path: Path) -> None:
    program = """
        import random, torch, numpy
        torch.seed(), random.seed()
        print(torch.rand(2).tolist(), torch.rand(1, device="cuda").tolist(), random.random())
        print(numpy.random.rand(), numpy.random.default_rng().random())
    """
    first, again = (run_program(tmp_path, program, totals=True, seed=seed).done for seed in (5, 5))
    assert first.exit_code == 0 and first.stdout == again.stdout, first.stderr
    assert run_program(tmp_path, program, totals=True).done.stdout != first.stdout


@pytest.mark.slow
def test_memory_that_an_operator_leaves_unwritten_is_no_result(tmp_path: Path) -> None:
    program = """
        import torch
        torch.manual_seed(0)
        layer = torch.nn.LSTM(2, 3, batch_first=True)
        steps, state = torch.ones(2, 4, 2), (torch.zeros(1, 2, 3), torch.zeros(1, 2, 3))
        layer(steps, state)
        stale = [torch.full((size,), %s, dtype=torch.uint8) for size in range(64, 40_000, 64)]
        del stale
        layer(steps, state)
    """
    runs = []
    for byte in (0, 201):
        folder = tmp_path / str(byte)
        folder.mkdir()
        runs.append(run_program(folder, program % byte, world="cpu", totals=True))
    first, other = ([each for each in ran.trace["operator_totals"] if "_rnn" in each["op"]] for ran in runs)
    assert first and first == other
