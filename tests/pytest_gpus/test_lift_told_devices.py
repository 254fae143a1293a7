"""`pytest --lift --lift-device`: calls that take a `device` which the test leaves out are told the GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from suite_runs import run

pytestmark = pytest.mark.slow

LIBRARY = """
import torch

def grid(n, device=None):
    return torch.arange(n)

def points(n, device=None):
    made = torch.linspace(0, 1, n)
    return made if device is None else made.to(device)

def noise(n, device="cpu"):
    return torch.rand(n) + torch.zeros(n, device=device)

def two(n, device=None):
    return torch.nn.Sequential(torch.nn.Linear(n, n, device=device), torch.nn.Linear(n, n))

class Scaled(torch.nn.Module):
    def __init__(self, n, device=None):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(n, device=device))
        self.bias = torch.nn.Parameter(torch.zeros(n))

    def forward(self, x):
        return x * self.weight + self.bias

class Trained(torch.nn.Module):
    def __init__(self, n, device=None):
        super().__init__()
        self.linear, self.device = torch.nn.Linear(n, n), device

    def forward(self, x):
        return self.linear(x)

class Store:
    def __init__(self, n, device="cpu"):
        self.n, self.device = n, device

    def sample(self):
        return torch.zeros(self.n)

    def order(self):
        return torch.arange(self.n, device=self.device)

def inner(n, device=None):
    return torch.ones(n, device=device)

def outer(x):
    return x + inner(len(x)).to(x.device)
"""

TESTS = """
import torch
from library import Scaled, Store, Trained, grid, inner, noise, outer, points, two

x = torch.rand(3)

def test_ignored():
    x + grid(3)

def test_ignored_though_it_is_told():
    x + grid(3, device=x.device)

def test_moved_at_the_end():
    x + points(3)

def test_mixed():
    noise(3)

def test_a_host_by_name():
    assert noise(3, device="cpu").device.type == "cpu"

def test_a_layer_without_it():
    two(3)(x)

def test_a_parameter_without_it():
    Scaled(3)(x)

def test_a_module_that_is_moved_all_the_same():
    Trained(3)(x)

def test_an_object_without_it():
    x + Store(3).sample()

def test_an_object_with_it():
    x + Store(3).order()

def test_what_the_library_calls_itself():
    outer(x)
"""


def lifted(pytester: pytest.Pytester, *more: str) -> tuple[dict[str, str], dict[str, list[int]], set[str]]:
    """Return the result of each test, the lines of its silent findings, and the tests that leave a `device` out."""
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_use=TESTS)
    record = Path(pytester.mkdir("record"))
    run(pytester, "--lift", "--world", "simulated", f"--lift-record={record}", *more)
    lines: list[dict[str, Any]] = [json.loads(line) for line in (record / "results.jsonl").read_text().splitlines()]
    told = {line["test"].partition("::test_")[2]: line for line in lines if "result" in line}
    silent = {test: [each["line"] for each in line["silent"] if each["is_told"]] for test, line in told.items()}
    untold = {test for test, line in told.items() if line["untold"]}
    return {test: line["result"] for test, line in told.items()}, silent, untold


def test_what_ignores_a_device_that_it_is_told_is_a_finding(pytester: pytest.Pytester) -> None:
    results, silent, _ = lifted(pytester, "--lift-device")
    assert {test for test, result in results.items() if result == "finding"} == {"mixed", "a_parameter_without_it"}
    assert {test: lines for test, lines in silent.items() if lines} == {
        "ignored": [4],
        "ignored_though_it_is_told": [4],
        "a_layer_without_it": [14],
        "an_object_without_it": [38],
    }
    assert set(results.values()) == {"finding", "passed"}


def test_tests_that_leave_a_device_out_are_known(pytester: pytest.Pytester) -> None:
    results, silent, untold = lifted(pytester)
    assert set(results.values()) == {"passed"}
    assert {test for test, lines in silent.items() if lines} == {"ignored_though_it_is_told"}
    assert untold == {
        "ignored",
        "moved_at_the_end",
        "mixed",
        "a_host_by_name",
        "a_layer_without_it",
        "a_parameter_without_it",
        "a_module_that_is_moved_all_the_same",
        "an_object_without_it",
        "an_object_with_it",
    }
