"""Programs that `torch.jit.trace` records in a lifted run: of what the code under test does, and no more."""

from __future__ import annotations

import pytest
from suite_runs import run

LIBRARY = """
import torch

@torch.jit.script_if_tracing
def scaled(x, weight):
    if x.dim() == 1:
        return x[None] * weight
    return x * weight

class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        return scaled(x, self.weight)

class Clip(Scale):
    def forward(self, x):
        return x * torch.min(self.weight, torch.tensor(1.0))

def make_scale():
    return Scale()
"""
TESTS = """
import library
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = library.make_scale(), library.make_scale()

    def forward(self, x):
        return self.last(self.first(x))

def test_parts_that_the_library_has_made_move_untraced():
    traced = torch.jit.trace(Net().eval(), (torch.rand(2, 3),))
    assert traced(torch.ones(2, 3)).is_cuda

def test_a_number_meets_a_tensor_in_a_traced_program():
    traced = torch.jit.trace(library.Clip(), (torch.rand(2, 3),))
    assert traced(torch.ones(2, 3)).is_cuda
"""


@pytest.mark.slow
def test_a_traced_program_has_no_move_and_its_numbers_are_no_results(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(library=LIBRARY, test_traced=TESTS)
    run(pytester, "--lift", "--lift-strict", "--world", "simulated").assert_outcomes(passed=2)


@pytest.mark.slow
def test_a_script_asks_for_devices_in_inference_mode_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        library="import torch\n@torch.jit.script\ndef count(x, size: int):\n"
        "    return torch.zeros(size, device=x.device).scatter_(0, x, 1, reduce='add')\n",
        test_counts="import library\nimport torch\n@torch.inference_mode()\ndef test_count():\n"
        "    assert library.count(torch.tensor([0, 1]), 3).is_cuda\n",
    )
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=1)
