"""Test runners: an exception that fails a test is a failure of the process, an expected one is not."""

from __future__ import annotations

import functools
import sys
from typing import Any

from ..capture.failure_recorder import FailureRecorder
from ..simulation.patching import replace

_endings: FailureRecorder | None = None


def install(endings: FailureRecorder) -> None:
    """Listen to unittest, where it is used; pytest is reached through its own plugin (entry/devfix_probe_pytest.py)."""
    global _endings
    _endings = endings
    if "unittest" in sys.modules or "unittest.result" in sys.modules:
        hook_unittest()


def failed_test(exception: BaseException | None) -> None:
    """Record the exception that failed a test."""
    if _endings is not None:
        _endings.uncaught(None if exception is None else raised_by(exception), "test")


def raised_by(exception: BaseException) -> BaseException:
    """Return the exception that an example in a docstring raised, where that is what failed a test; else the same."""
    doctest = sys.modules.get("doctest")
    if doctest is None:
        return exception
    several = getattr(exception, "failures", None)  # of pytest's exception for all examples of a docstring
    failures = several if isinstance(several, (list, tuple)) else [exception]
    raised = (each.exc_info[1] for each in failures if isinstance(each, doctest.UnexpectedException))
    return next(raised, exception)


def hook_unittest() -> None:
    """Let unittest's results report the exceptions that failed a test."""
    import unittest

    for name in ("addError", "addFailure"):
        original = getattr(unittest.TestResult, name)

        def add(self: Any, test: Any, error: Any, original: Any = original) -> Any:
            failed_test(error[1])
            return original(self, test, error)

        replace(unittest.TestResult, name, functools.wraps(original)(add))
