"""Plugin of pytest: the tests that pass and reach given lines.

`PLANTS_LINES` names a JSON file of places, path (absolute) to lines; `PLANTS_REACHED` the one that is written: a place
(`path:line`) to the tests that reach it, each with its seconds.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

_MOST = 40  # tests of one place
_lines: dict[str, set[int]] = {}
_now: set[str] = set()
_reached: dict[str, dict[str, float]] = {}


def pytest_configure() -> None:
    """Read the places."""
    with open(os.environ["PLANTS_LINES"], encoding="utf-8") as file:
        _lines.update({path: set(lines) for path, lines in json.load(file).items()})


def _called(frame: Any, event: str, argument: Any) -> Any:
    lines = _lines.get(frame.f_code.co_filename)
    return None if lines is None else _watch


def _watch(frame: Any, event: str, argument: Any) -> Any:
    if event == "line" and frame.f_lineno in _lines[frame.f_code.co_filename]:
        _now.add(f"{frame.f_code.co_filename}:{frame.f_lineno}")
    return _watch


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    """Trace a test with its fixtures."""
    _now.clear()
    sys.settrace(_called)
    yield
    sys.settrace(None)


def pytest_runtest_logreport(report: Any) -> None:
    """Keep what a test has reached that passed."""
    if report.when == "call" and report.passed:
        for place in _now:
            tests = _reached.setdefault(place, {})
            if len(tests) < _MOST:
                tests[report.nodeid] = report.duration


def pytest_sessionfinish() -> None:
    """Write what was reached."""
    with open(os.environ["PLANTS_REACHED"], "w", encoding="utf-8") as file:
        json.dump(_reached, file)
