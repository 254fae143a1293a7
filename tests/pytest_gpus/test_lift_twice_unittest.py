"""Tests of classes of unittest run on two GPUs in turn, where their class prepares nothing that they share."""

from __future__ import annotations

import json
from pathlib import Path

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


@pytest.mark.slow
def test_a_cache_shows_in_classes_that_prepare_nothing(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_library=TESTS)
    record = pytester.mkdir("record")
    run(pytester, "--lift", "--world", "simulated", "--gpus", "2", "--lift-twice", "--lift-record", str(record))
    told = map(json.loads, Path(record, "results.jsonl").read_text().splitlines())
    results = {each["test"].rpartition("::")[2]: each for each in told if "result" in each}
    assert {name: each["result"] for name, each in results.items()} == {
        "test_cache": "finding",
        "test_no_cache": "passed",
        "test_shared": "passed",
    }
    assert results["test_cache"]["served"]["function"] == "steps"
