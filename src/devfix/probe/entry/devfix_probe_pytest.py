"""Report the exceptions that fail a test to the probe; loaded by pytest through PYTEST_PLUGINS."""

from __future__ import annotations

import sys
from typing import Any


def pytest_exception_interact(node: Any, call: Any, report: Any) -> None:
    """Record the exception of a failed test or collection; not called for expected exceptions or skips."""
    runners = sys.modules.get("devfix probe.session.test_runners")
    if runners is not None and call.excinfo is not None:
        runners.failed_test(call.excinfo.value)
