"""Fixtures that several files share."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devfix.process import child_environment
from devfix.warm import Warm

pytest_plugins = ["pytester"]

# A shell that starts the tests in the background has them ignore Ctrl-C, and with them all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """A process in this interpreter that has imported torch."""
    warm = Warm(Path(sys.executable), child_environment())
    yield warm
    warm.close()
