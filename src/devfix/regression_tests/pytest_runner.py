"""A script that runs one test with plain pytest; its exit code says whether the test ran to its end."""

from __future__ import annotations

LAUNCHER = ".devfix_guard.py"
WROTE = "devfix-guard wrote: "

# pytest's own exit code is not sufficient: coverage may fail for a single test, and a skip counts as success.
_SOURCE = """\
import os
import sys
from importlib.metadata import distributions

if os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)):
    del sys.path[0]
import pytest


def files():
    skipped = {".git", "__pycache__", ".pytest_cache"}
    found = set()
    for folder, folders, names in os.walk("."):
        folders[:] = [name for name in folders if name not in skipped]
        found.update(os.path.join(folder, name) for name in names if not name.endswith(".pyc"))
        if len(found) > 100_000:
            return set()
    return found


class Told:
    passed = other = 0

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            self.passed += 1
        elif report.failed or report.skipped:
            self.other += 1


if __name__ == "__main__":
    told, before = Told(), files()
    known = any(point.name == "devfix-gpus" for each in distributions() for point in each.entry_points)
    ours = [] if known else ["-p", "devfix.pytest_gpus.plugin"]
    code = pytest.main([*ours, "-p", "no:cacheprovider", "-q", *sys.argv[1:]], plugins=[told])
    if wrote := sorted(files() - before):
        print("devfix-guard wrote: " + wrote[0][2:])
        sys.exit(9)
    sys.exit(0 if told.passed and not told.other else int(code) or 8)
"""


def launcher() -> bytes:
    """Return the contents of the script."""
    return _SOURCE.encode()
