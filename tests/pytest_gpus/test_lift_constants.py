"""Numbers that the code under test makes at its import: no silent findings; what a call makes itself is one."""

from __future__ import annotations

import json

import pytest
from suite_runs import run

CONSTANTS = """
import torch

LIMITS = torch.tensor([1.0, 2.0])
"""
LIBRARY = """
import torch

HALF = torch.tensor(0.5)

class Scaled(torch.nn.Module):
    def __init__(self, by=HALF, shift=torch.tensor(1.0)):
        super().__init__()
        self.by, self.twice, self.shift = by, by * 2, shift

    def forward(self, x):
        return x * self.by * self.twice + self.shift

class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.by = torch.tensor(0.5)

    def forward(self, x):
        return x * self.by

class Listed(torch.nn.Module):
    grid = torch.arange(2.0)

    def __init__(self):
        super().__init__()
        self.points = self.grid

    def forward(self, x):
        return x + self.points

def limits(x):
    from constants import LIMITS
    return LIMITS

def made(x):
    return torch.tensor([1.0, 2.0])
"""
TESTS = """
import torch
from library import Listed, Own, Scaled, limits, made

def test_number():
    assert Scaled()(torch.ones(2)).sum() > 0

def test_of_the_object():
    assert Own()(torch.ones(2)).sum() > 0

def test_vector():
    assert Listed()(torch.ones(2)).sum() > 0

def test_imported_in_the_call():
    assert limits(torch.ones(2)).tolist() == [1, 2]

def test_made_in_the_call():
    assert made(torch.ones(2)).tolist() == [1, 2]
"""


@pytest.mark.slow
def test_a_number_that_is_made_at_import_is_no_finding(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, constants=CONSTANTS, test_library=TESTS)
    record = pytester.mkdir("record")
    run(pytester, "--lift", "--world", "simulated", "--lift-record", str(record))
    told = map(json.loads, record.joinpath("results.jsonl").read_text().splitlines())
    results = {each["test"].partition("::test_")[2]: each for each in told if "result" in each}
    assert {name: [found["kind"] for found in each["silent"]] for name, each in results.items()} == {
        "number": [],
        "of_the_object": ["not-moved"],
        "vector": [],
        "imported_in_the_call": [],
        "made_in_the_call": ["result-on-host"],
    }
    assert [name for name, each in results.items() if each["result"] != "passed"] == ["vector"]
