"""Fixtures that several files share."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from probe_programs import Ran, run_program
from waiting import HANGS

from devfix.execution.prefork import PreforkServer
from devfix.process import child_environment

pytest_plugins = ["pytester"]

# A shell that starts the tests in the background has them ignore Ctrl-C, and with them all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    help = "of all files with tests that are selected, run each Nth, from the Kth on"
    parser.addoption("--part", metavar="K/N", type=_part, default=(1, 1), help=help)


def _part(text: str) -> tuple[int, int]:
    """Return the two numbers of a part."""
    part, of = (int(number) for number in text.split("/"))
    if not 1 <= part <= of:
        raise ValueError(text)
    return part, of


@pytest.hookimpl(trylast=True)  # after the marks have selected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the files of the part, whole: their tests share repairs."""
    part, of = config.getoption("part")
    kept = set(sorted({item.path for item in items})[part - 1 :: of])
    config.hook.pytest_deselected(items=[item for item in items if item.path not in kept])
    items[:] = [item for item in items if item.path in kept]


# What a container sets for its own Python hides what users see: output that is not flushed, modules that are written.
for name in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"):
    os.environ.pop(name, None)


# How long devfix gives to what it could do without: a test of that must not fail for a busy machine.
BUDGETS = (
    ("devfix.regression_tests.candidates", "QUICK"),
    ("devfix.regression_tests.verifier", "LONG"),
    ("devfix.regression_tests.verifier", "SECONDS"),
    ("devfix.execution.test_server", "TIMEOUT"),
    ("devfix.execution.prefork", "_START_SECONDS"),
)


@pytest.fixture(scope="session", autouse=True)
def _enough_time() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module, name in BUDGETS:
            patch.setattr(import_module(module), name, HANGS)
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test replays a run that somebody recorded, or records one among the user's.

    What is compiled for this interpreter is kept beside it: each session, and each of its processes, would compile it
    again, which takes a minute of processor time.
    """
    cache, compiled = tmp_path_factory.mktemp("cache"), Path(sys.prefix) / "devfix-compiled"
    if sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK):
        compiled.mkdir(mode=0o700, exist_ok=True)
        (cache / "devfix").mkdir()
        (cache / "devfix" / "native").symlink_to(compiled, target_is_directory=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        yield


@pytest.fixture(scope="session")
def warm() -> Iterator[PreforkServer]:
    """A process in this interpreter that has imported torch."""
    warm = PreforkServer(Path(sys.executable), child_environment())
    yield warm
    warm.close()


@pytest.fixture
def trace_program(tmp_path: Path, warm: PreforkServer) -> Any:
    """Run a program under the probe, which must record it without errors of its own."""

    def run(source: str, **order: Any) -> Ran:
        ran = run_program(tmp_path, source, warm=warm, **order)
        assert ran.trace["internal_errors"] == []
        return ran

    return run
