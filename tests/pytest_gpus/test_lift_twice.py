"""Tests run on two GPUs in turn, also those of classes of unittest, where they share nothing that lies on one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from suite_runs import run

LIBRARY = """
import torch

_STEPS = {}

def steps(count, device):
    if count not in _STEPS:
        _STEPS[count] = torch.arange(count, device=device)
    return _STEPS[count]

def scaled(x):
    return x * steps(len(x), x.device)
"""

TESTS = """
import unittest
import torch
import library

class Base(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

class PlainTest(Base):
    def test_cache(self):
        self.assertEqual(library.scaled(torch.ones(2)).sum(), 1)

    def test_no_cache(self):
        self.assertEqual(torch.ones(3).sum(), 3)

class PreparingTest(Base):
    @classmethod
    def setUpClass(cls):
        cls.x = torch.ones(4)

    def test_shared(self):
        self.assertEqual(library.scaled(self.x).sum(), 6)
"""

SHARED = """
import pytest
import torch
import library

@pytest.fixture(scope="module", params=[5, 6])
def count(request):
    return request.param

@pytest.fixture(scope="session", autouse=True)
def seeded():
    torch.manual_seed(0)

@pytest.fixture(scope="module")
def x():
    return torch.ones(7)

def test_begin(count):
    assert count > 4

def test_number(count):
    assert library.scaled(torch.ones(count)).sum() > 9

def test_tensor(x):
    assert library.scaled(x).sum() == 21
"""


def results(pytester: pytest.Pytester, **files: str) -> dict[str, dict[str, Any]]:
    """Run tests on two GPUs in turn, and return what came of each, by its name."""
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, **files)
    record = pytester.mkdir("record")
    run(pytester, "--lift", "--world", "simulated", "--gpus", "2", "--lift-twice", "--lift-record", str(record))
    told = map(json.loads, Path(record, "results.jsonl").read_text().splitlines())
    return {each["test"].rpartition("::")[2]: each for each in told if "result" in each}


@pytest.mark.slow
def test_a_cache_shows_where_tests_share_numbers_alone(pytester: pytest.Pytester) -> None:
    found = results(pytester, test_shared=SHARED)
    assert {name for name, each in found.items() if each["result"] == "finding"} == {"test_number[5]", "test_number[6]"}
    assert found["test_tensor"]["result"] == "passed"


@pytest.mark.slow
def test_a_cache_shows_in_classes_that_prepare_nothing(pytester: pytest.Pytester) -> None:
    found = results(pytester, test_library=TESTS)
    assert {name: each["result"] for name, each in found.items()} == {
        "test_cache": "finding",
        "test_no_cache": "passed",
        "test_shared": "passed",
    }
    assert found["test_cache"]["served"]["function"] == "steps"


MOVED = """
import torch

_KERNELS = {}

class Kernel(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("kernel", torch.ones(size))

    def forward(self, x):
        return x * self.kernel

def filtered(x):
    if len(x) not in _KERNELS:
        _KERNELS[len(x)] = Kernel(len(x)).to(x)
    return _KERNELS[len(x)](x)
"""
USES_OF_MOVED = """
import torch
import kernels

def test_filtered():
    kernels.filtered(torch.ones(3))
"""


@pytest.mark.slow
def test_a_cache_lies_where_what_it_keeps_was_put_on_the_gpu(pytester: pytest.Pytester) -> None:
    found = results(pytester, kernels=MOVED, test_kernels=USES_OF_MOVED)
    served = found["test_filtered"]["served"]
    assert (found["test_filtered"]["result"], served["function"], served["line"]) == ("finding", "filtered", 15)


CHOSEN = """
import pytest
import torch
import library

TEST_DEVICE = torch.device("cpu")

@pytest.fixture(scope="session", params=["cpu", pytest.param("cuda", marks=pytest.mark.skip)])
def device(request):
    return request.param

@pytest.fixture(scope="module")
def torch_device():
    return torch.device("cpu")

def test_name(device):
    assert library.scaled(torch.ones(2).to(device)).sum() == 1

def test_device(torch_device):
    assert library.scaled(torch.ones(3).to(torch_device)).sum() == 3

def test_global():
    assert library.scaled(torch.ones(4, device=TEST_DEVICE)).sum() == 6

class TestAttribute:
    device = "cpu"

    def test_attribute(self):
        assert library.scaled(torch.ones(5, device=self.device)).sum() == 10

def test_the_gpu_of_the_test(device, torch_device):
    assert {device, str(torch_device), str(TEST_DEVICE), TestAttribute.device} == {"cuda:1"}
"""


@pytest.mark.slow
def test_a_cache_shows_where_the_suite_chooses_the_device(pytester: pytest.Pytester) -> None:
    found = results(pytester, test_chosen=CHOSEN)
    assert {name: each["result"] for name, each in found.items() if each["result"] != "skipped"} == {
        "test_name[cpu]": "finding",
        "test_device": "finding",
        "test_global": "finding",
        "test_attribute": "finding",
        "test_the_gpu_of_the_test[cpu]": "passed",
    }
