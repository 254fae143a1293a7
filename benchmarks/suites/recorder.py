"""The pytest plugin of the suites that the parity program runs: it writes what became of each test."""

from __future__ import annotations

import json
import os
from typing import Any

WRITTEN = "DEVFIX_PARITY_RESULTS"
DEVICE = "DEVFIX_PARITY_DEFAULT_DEVICE"
_began = [0.0]


def pytest_sessionstart() -> None:
    """Make a device the default one, for suites that have no option for it."""
    if device := os.environ.get(DEVICE):
        import torch

        torch.set_default_device(device)


def pytest_runtest_logstart() -> None:
    """Begin to count what a test takes."""
    _began[0] = _worked()


def pytest_runtest_logreport(report: Any) -> None:
    """Write the outcome of a test with its processor seconds, and of whatever fails or is skipped around it."""
    words = str(report.longrepr.reprcrash.message) if hasattr(report.longrepr, "reprcrash") else str(report.longrepr)
    if report.when == "call" or report.outcome != "passed":
        told = {"test": report.nodeid, "outcome": report.outcome, "words": words[:500] if report.longrepr else ""}
        told["worked"] = round(_worked() - _began[0], 4)
        with open(os.environ[WRITTEN], "a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")


def pytest_collectreport(report: Any) -> None:
    """Write that a module could not be collected."""
    if report.outcome == "failed":
        told = {"test": report.nodeid, "outcome": "failed", "words": str(report.longrepr)[-500:]}
        with open(os.environ[WRITTEN], "a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")


def _worked() -> float:
    """Return the processor seconds of this process and of the children that have ended."""
    return sum(os.times()[:4])
