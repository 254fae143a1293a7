"""Layers of the library that test code gives to a module on the GPU, and what test code makes in TorchScript."""

from __future__ import annotations

import json

import pytest
from suite_runs import run

LIBRARY = """
import torch
from torch import Tensor, nn

@torch.jit.script
class Doubled:
    def __init__(self, x: Tensor):
        self.x = nn.functional.relu(x)

    def value(self) -> Tensor:
        return 2 * self.x

def head():
    return nn.Linear(2, 2)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.layers = nn.Linear(2, 2), head(), nn.ModuleList([head()])

    def renew(self):
        self.head = head()

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(self.body(x))

class Grid:
    def __init__(self, points):
        self.points = points

    def scaled(self, x):
        return x * self.points
"""
TESTS = """
import torch
import library

@torch.jit.script
def ones(n: int):
    return torch.ones(n)

def called():
    net = library.Net()
    net(torch.ones(2))
    return net

def test_assigned():
    net = called()
    net.head = library.head()
    assert net(torch.ones(2)).is_cuda == torch.cuda.is_available()

def test_patched(monkeypatch):
    net = called()
    monkeypatch.setattr(net, "head", library.head())
    net(torch.ones(2))

def test_appended():
    net = called()
    net.layers.append(library.head())
    net(torch.ones(2))

def test_renewed_by_the_library():
    net = called()
    net.renew()
    net(torch.ones(2))

def test_script():
    assert library.Grid(ones(3)).scaled(torch.ones(3)).sum() == 3

def test_class_in_a_script():
    assert library.Doubled(torch.ones(3)).value().is_cuda == torch.cuda.is_available()
"""


@pytest.mark.slow
def test_what_test_code_gives_is_moved(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_library=TESTS)
    record = pytester.mkdir("record")
    run(pytester, "--lift", "--world", "simulated", "--lift-record", str(record))
    told = map(json.loads, record.joinpath("results.jsonl").read_text().splitlines())
    assert {each["test"].partition("::test_")[2]: each["result"] for each in told if "result" in each} == {
        "assigned": "passed",
        "patched": "passed",
        "appended": "passed",
        "renewed_by_the_library": "finding",
        "script": "passed",
        "class_in_a_script": "passed",
    }
