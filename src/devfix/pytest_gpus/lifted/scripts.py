"""`--lift-scripts`: scripts that run without arguments, each as one test."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class ScriptFile(pytest.File):
    """A file that is run, not imported."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the one test."""
        yield ScriptItem.from_parent(self, name="script")


class ScriptItem(pytest.Item):
    """A run of a script in this process, as `python script.py` runs it."""

    def runtest(self) -> None:
        """Run the script; it fails by an exception, or by an exit code that says so."""
        with _as_program(self.path):
            try:
                runpy.run_path(str(self.path), run_name="__main__")
            except SystemExit as end:
                if end.code not in (None, 0):
                    pytest.fail(f"the script ended with exit code {end.code}", pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return what pytest shows."""
        return self.path, 0, str(self.path)


@contextmanager
def _as_program(path: Path) -> Iterator[None]:
    """Give a script its arguments, none, and its import path; what it imports from its own folder is forgotten."""
    folder = str(path.parent)
    arguments, known = sys.argv, set(sys.modules)
    sys.argv = [str(path)]
    sys.path.insert(0, folder)
    os.environ.setdefault("MPLBACKEND", "Agg")  # a plot that is shown would wait for somebody to close it
    try:
        yield
    finally:
        sys.argv = arguments
        sys.path.remove(folder)
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(folder + os.sep):
                del sys.modules[name]
