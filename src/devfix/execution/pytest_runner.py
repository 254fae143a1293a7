"""Scripts around plain pytest: one runs a test and says by its exit code whether it ran to its end; one prepares it."""

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


# A session of tests in an empty folder imports pytest and the plugins as each test's own would: through pytest's hook,
# which warns of modules that were imported without it. Nothing of the program may be imported before its files change.
_PREPARE = """\
import contextlib
import io
import os
import sys
import tempfile
import threading
from importlib.metadata import distributions

before, here, paths = set(sys.modules), os.getcwd(), list(sys.path)
for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
    os.environ.pop(name, None)
sys.path.insert(0, folder)
import pytest

known = any(point.name == "devfix-gpus" for each in distributions() for point in each.entry_points)
ours = [] if known else ["-p", "devfix.pytest_gpus.plugin"]
said = io.StringIO()
with tempfile.TemporaryDirectory() as empty, contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
    os.chdir(empty)
    with open("pytest.ini", "w") as file:
        file.write("[pytest]\\n")
    with open("test_of_devfix.py", "w") as file:
        file.write("def test_of_devfix():\\n    import devfix.pytest_gpus.tests, devfix.process.native\\n")
        file.write("    assert [1] == [2]\\n")
    code = pytest.main([*ours, "-p", "no:cacheprovider", "-q", "test_of_devfix.py"])
    os.chdir(here)
sys.modules.pop("test_of_devfix", None)
sys.path[:] = paths
if code != 1:
    raise RuntimeError(f"a session of tests ended with {code}: {said.getvalue()[-500:]}")
if threading.active_count() > 1:
    raise RuntimeError("a plugin of pytest has started a thread")
for name in set(sys.modules) - before:
    file = os.path.realpath(getattr(sys.modules[name], "__file__", None) or os.sep)
    if file.startswith(os.path.join(root, "")) and not {"site-packages", "dist-packages"} & set(file.split(os.sep)):
        raise RuntimeError(f"a plugin of pytest is part of the program: {name}")
"""


def preparation() -> str:
    """Return code that imports what a session of tests does.

    Its names are `folder`, from which devfix is imported, and `root`, below which the program's own modules lie.
    """
    return _PREPARE


def launcher() -> bytes:
    """Return the contents of the script."""
    return _SOURCE.encode()
