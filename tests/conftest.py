"""Fixtures that several files share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devfix.process import child_environment
from devfix.warm import Warm

pytest_plugins = ["pytester"]


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """A process in this interpreter that has imported torch."""
    warm = Warm(Path(sys.executable), child_environment())
    yield warm
    warm.close()
