"""Somebody's suite, run by a pytest of its own with the plugin."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

MODEL = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        bias = torch.ones(4)
        return self.linear(x) + bias
"""  # its forward creates a tensor on the host
# An environment that was installed before the plugin was added has it by name alone.
NAMED = [] if entry_points(group="pytest11", name="devfix-gpus") else ["-p", "devfix.pytest_gpus.plugin"]


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run the suite in the folder of `pytester`."""
    return pytester.runpytest_subprocess(*NAMED, "-p", "no:cacheprovider", *arguments)


def silent_findings(pytester: pytest.Pytester, library: str, tests: str) -> dict[str, list[dict[str, Any]]]:
    """Return the silent findings of each test that has any, by its name without "test_"; all tests pass lifted."""
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=library, test_use=tests)
    record = Path(pytester.mkdir("record"))
    run(pytester, "--lift", "--world", "simulated", f"--lift-record={record}")
    lines = [json.loads(line) for line in (record / "results.jsonl").read_text().splitlines()]
    told = {line["test"].partition("::test_")[2]: line for line in lines if "result" in line}
    assert {line["result"] for line in told.values()} == {"passed"}
    return {test: line["silent"] for test, line in told.items() if line["silent"]}
