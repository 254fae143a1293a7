"""The pytest plugin of the suites that the parity program runs: it writes what became of each test."""

from __future__ import annotations

import json
import os
import pkgutil
from typing import Any

WRITTEN = "DEVFIX_PARITY_RESULTS"
DEVICE = "DEVFIX_PARITY_DEFAULT_DEVICE"
ATTRIBUTE = "DEVFIX_PARITY_ATTRIBUTE"
_began = [0.0]


def pytest_sessionstart() -> None:
    """Set the device that the suite asks for in its own way: the default one, or an attribute of a class."""
    if device := os.environ.get(DEVICE):
        import torch

        torch.set_default_device(device)
    if given := os.environ.get(ATTRIBUTE):
        import torch

        place, _, device = given.partition("=")
        owner, _, attribute = place.rpartition(".")
        setattr(pkgutil.resolve_name(owner), attribute, torch.device(device))


def pytest_runtest_logstart() -> None:
    """Begin to count what a test takes."""
    _began[0] = _worked()


def pytest_runtest_logreport(report: Any) -> None:
    """Write the outcome of a test with its processor seconds, and of whatever fails or is skipped in or around it."""
    if type(report).__name__ == "SubtestReport" and report.outcome == "passed":
        return  # there are thousands in one test, which tells of them all
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
