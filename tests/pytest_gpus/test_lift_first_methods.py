"""`--lift-twice`: what a method of a module shows, called on a copy on another GPU, and then where the test is."""

from __future__ import annotations

import pytest
from suite_runs import run

PAIR = """
import torch

class Spline(torch.nn.Module):
    def __init__(self, knots):
        super().__init__()
        self.register_buffer("knots", knots)

    @property
    def interval(self):
        return torch.stack([self.knots[0], self.knots[-1]])

class Pair(torch.nn.Module):
    def __init__(self, *splines):
        super().__init__()
        self.first = splines[0].interval
        self.splines = torch.nn.ModuleList(splines)

    @property
    def interval(self):
        return self.first
"""

PAIR_TEST = """
import torch
from library import Pair, Spline

def test_pair():
    pair = Pair(Spline(torch.arange(4.0)), Spline(torch.arange(4.0)))
    assert pair.interval.tolist() == [0, 3]
"""


@pytest.mark.slow
def test_a_property_fails_by_what_the_move_of_its_caller_left_where_the_tests_have_their_own_configuration(
    pytester: pytest.Pytester,
) -> None:
    pytester.makefile(".py", **{"setup": "", "library": PAIR, "tests/test_pair": PAIR_TEST})
    pytester.makefile(".ini", **{"tests/pytest": "[pytest]\npythonpath = ..\n"})
    arguments = ("--lift", "--gpus", "2", "--lift-twice", "--world", "simulated", "tests/test_pair.py")
    output = run(pytester, *arguments, "--lift-strict-at=library.py:Pair.__init__").stdout.str()
    assert "self.first             cuda:1  torch.float32 [2], attribute of a module" in output, output
    assert "moved to cuda:0 at tests/test_pair.py:6" in output and "created at tests/test_pair.py:5" in output


CACHED = """
import torch

class Turned(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.known = torch.nn.Parameter(torch.ones(3)), {}

    def ramp(self, n, device):
        if n not in self.known:
            self.known[n] = torch.arange(3.0, device=device)
        return self.known[n]

    def turned(self, x):
        return x * self.scale * self.ramp(3, x.device)
"""
CACHED_TEST = """
import torch
from library import Turned

def test_turned():
    assert Turned().turned(torch.ones(3)).shape == (3,)
"""


@pytest.mark.slow
def test_a_cache_that_another_method_than_forward_fills_is_stale_on_another_gpu(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=CACHED, test_turned=CACHED_TEST)
    arguments = ("--lift", "--gpus", "2", "--lift-twice", "--world", "simulated")
    strict = "--lift-strict-at=library.py:Turned.ramp"
    output = run(pytester, *arguments, strict).stdout.str()
    assert "1 ended in a finding" in output and "library.py:14" in output, output
    assert "1 passed, 0 ended in a finding" in run(pytester, *arguments).stdout.str()  # a silent one
    keyed = CACHED.replace("[n]", "[n, device]").replace("if n not", "if (n, device) not")
    pytester.makepyfile(library=keyed)
    assert "1 passed, 0 ended in a finding" in run(pytester, *arguments, strict).stdout.str()
