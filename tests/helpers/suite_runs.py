"""Somebody's suite, run by a pytest of its own with the plugin."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

# An environment that was installed before the plugin was added has it by name alone.
NAMED = [] if entry_points(group="pytest11", name="devfix-gpus") else ["-p", "devfix.pytest_gpus.plugin"]


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run the suite in the folder of `pytester`."""
    return pytester.runpytest_subprocess(*NAMED, "-p", "no:cacheprovider", *arguments)
