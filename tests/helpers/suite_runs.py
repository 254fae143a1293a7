"""Somebody's suite, run by a pytest of its own with the plugin."""

from __future__ import annotations

from importlib.metadata import entry_points

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
