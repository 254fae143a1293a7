"""Lifted to the second GPU, modules move as parts of another: a `.to` of their own is not called then."""

from __future__ import annotations

import pytest
from suite_runs import run

LIBRARY = """
import torch

class Noise(torch.nn.Module):
    device = "cpu"

    def to(self, device):
        self.device = device
        return self

    def forward(self, x):
        return x + torch.zeros(len(x), device=self.device)

class Counted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = torch.zeros(1)

    def _apply(self, function, *args, **kwargs):
        self.seen = function(self.seen)
        return super()._apply(function, *args, **kwargs)

    def forward(self, x):
        return x + self.seen.expand(len(x))
"""
TESTS = """
import library
import torch

def test_own_to():
    assert library.Noise()(torch.ones(3)).is_cuda

def test_own_apply():
    assert library.Counted()(torch.ones(3)).is_cuda

def test_parameters():
    assert torch.nn.Linear(3, 3)(torch.ones(1, 3)).is_cuda
"""


@pytest.mark.slow
def test_modules_move_by_their_own_to_on_one_gpu(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(library=LIBRARY, test_modules=TESTS)
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=3)


@pytest.mark.slow
def test_modules_move_as_parts_of_another_on_two(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(library=LIBRARY, test_modules=TESTS)
    done = run(pytester, "--lift", "--gpus", "2", "--world", "simulated")
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(["*library.py:11: *", "2 passed, 1 ended in a finding, 0 in an artefact*"])
