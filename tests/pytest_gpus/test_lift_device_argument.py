"""Lifted calls that take a device which the test leaves out."""

from __future__ import annotations

import pytest
from suite_runs import run

LIBRARY = """
import torch

class Window(torch.nn.Module):
    def __init__(self, size, device=None):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1, device=device))
        self.weights = torch.ones(size, device=device) / size

    def forward(self, x):
        return x * self.scale * self.weights

class Grid(torch.nn.Module):
    def __init__(self, size, device=None):
        super().__init__()
        self.register_buffer("points", torch.ones(size, device=device))

    def forward(self, x):
        return x * self.points

class Agent(Window):
    def __init__(self, size, device="cpu"):
        super().__init__(size, device)

class Sampler:
    def __init__(self, size, device=None):
        self.weights = torch.ones(size, device=device)

    def draw(self, x):
        return x * self.weights
"""

TESTS = """
import torch
from library import Agent, Grid, Sampler, Window

x = torch.ones(3)

def test_a_tensor_that_the_move_leaves():
    Window(3)(x)

def test_a_tensor_that_the_move_takes_along():
    Grid(3)(x)

def test_a_module_that_is_on_the_host_by_default():
    Agent(3)(x)

def test_an_object_that_does_not_move():
    Sampler(3).draw(x)
"""


@pytest.mark.slow
def test_a_constructor_with_a_device_excuses_no_tensor_that_the_move_leaves(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_use=TESTS)
    done = run(pytester, "--lift", "--world", "simulated")
    assert "3 passed, 1 ended in a finding, 0 in an artefact" in done.stdout.str(), done.stdout.str()
    done.stdout.fnmatch_lines(["*library.py:10 *test_a_tensor_that_the_move_leaves*"])
