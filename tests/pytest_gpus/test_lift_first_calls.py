"""`--lift-twice`: what a module's move leaves behind, also where a cache of an earlier call fails the warm-up first."""

from __future__ import annotations

import json

import pytest
from suite_runs import run

LIBRARY = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.solved = None

    def predicted(self, x):
        if self.solved is None:
            self.solved = torch.ones(3, device=x.device)
        return self.linear(x) * self.solved

class Sampled(torch.nn.Module):
    def __init__(self, model, like):
        super().__init__()
        self.model = model
        self.weight = torch.rand(3, device=like.device)

    def forward(self, x):
        return self.model.predicted(x) * self.weight
"""

TESTS = """
import torch
from library import Model, Sampled

def test_sampled():
    x = torch.ones(1, 3)
    model = Model()
    sampled = Sampled(model, x)
    expected = model.predicted(x)
    assert sampled(x).shape == expected.shape
"""


@pytest.mark.slow
@pytest.mark.parametrize("strict", [(), ("--lift-strict-at=library.py:Sampled.__init__",)])
def test_a_cache_hides_nothing_that_is_left_behind(pytester: pytest.Pytester, strict: tuple[str, ...]) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_sampled=TESTS)
    record = pytester.mkdir("record")
    arguments = ("--lift", "--gpus", "2", "--lift-twice", "--world", "simulated", f"--lift-record={record}", *strict)
    output = run(pytester, *arguments).stdout.str()
    told = [json.loads(line) for line in record.joinpath("results.jsonl").read_text().splitlines()]
    found = [each for result in told for each in result.get("silent") or ()]
    assert {each["kind"] for each in found} == {"not-moved"}, output
    assert [each["attribute"] for each in found] == ["Model.solved", "Sampled.weight"]
    assert ("self.weight  cuda:1" in output) == bool(strict)


WRAPPED = """
import torch

class Transformed(torch.nn.Module):
    def __call__(self, x):
        return super().__call__(x) + 1

class Weighted(Transformed):
    def __init__(self, weights):
        super().__init__()
        self.weights = weights

    def forward(self, x):
        return x * self.weights
"""

CALLS = """
import torch
from wrapped import Weighted

def test_weighted():
    Weighted(torch.ones(3))(torch.ones(3))
"""


@pytest.mark.slow
def test_a_class_that_calls_its_modules_itself_is_called_first(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(wrapped=WRAPPED, test_calls=CALLS)
    strict = ("--lift-twice", "--lift-strict-at=wrapped.py:Weighted.__init__")
    done = run(pytester, "--lift", *strict, "--gpus", "2", "--world", "simulated")
    assert "0 passed, 1 ended in a finding" in done.stdout.str(), done.stdout.str()
