"""Try each mutant of the rule helpers in a fork of a process that has already read the tests: `mutants.py RECORDED`.

It runs in a folder that mutmut knows, and writes down how each mutant ended as mutmut would. A mutant is asked what
noticed its neighbours, the examples of `replay.py`, some replays, the unit tests that reach it, and more replays, until
one fails: quicker than with mutmut alone.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants, setup_source_paths
from mutmut.mutation import trampoline
from mutmut.mutation.data import SourceFileMutationData
from mutmut.utils.file_utils import walk_mutatable_files
from mutmut.utils.format_utils import mangled_name_from_mutant_name

LIVES, KILLED, TIMEOUT, UNTESTED = 0, 1, 36, 33  # mutmut's words for how a mutant ended
MEMORY = 6 << 30  # bytes
REPLAYS = 150  # of one mutant, evenly out of all that reach it: what lives through these is said to live
QUICK = 10  # replays that are asked before the unit tests: a replay takes milliseconds, to collect tests half a second
NOTICED: dict[str, Counter[str]] = defaultdict(Counter)  # which checks noticed changes of a function


class Reached:
    """Which functions each check and each unit test calls, and how long it takes."""

    def __init__(self) -> None:
        self.by_function: dict[str, list[str]] = defaultdict(list)
        self.seconds: dict[str, float] = {}
        self._called: set[str] = set()
        trampoline.record_trampoline_hit = lambda name, caller=None: self._called.add(name)
        trampoline.set_mutant_under_test("stats")
        self._began = time.monotonic()

    def note(self, name: str) -> None:
        """Count all that was called since the last note as called by `name`."""
        self.seconds[name] = time.monotonic() - self._began
        for function in self._called:
            self.by_function[function].append(name)
        self._called.clear()
        self._began = time.monotonic()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a unit test that has passed."""
        if report.when == "call":
            assert report.passed, report.longreprtext
            self.note(report.nodeid)


def main() -> None:
    """Make the mutants, see what reaches them, and try them, module by module."""
    folder = Path.cwd()
    trampoline.set_mutant_under_test("mutant_generation")
    Path("mutants").mkdir(exist_ok=True)
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    create_mutants(1)
    modules = []
    for path in walk_mutatable_files():
        modules.append(SourceFileMutationData(path=path))
        modules[-1].load()
    modules = [each for each in modules if each.exit_code_by_key]
    os.chdir("mutants")
    sys.path.insert(0, str(Path(__file__).parent))
    import replay

    checks = replay.checks(Path(sys.argv[1]))
    reached = Reached()
    for name, check in checks.items():
        assert check(), f"{name} fails before anything is changed"
        reached.note(name)
    tests = [
        str(each)
        for each in sorted((*Path("tests/sdk").glob("*.py"), *Path("tests/source").glob("*.py")))
        if "documents" not in each.name
    ]
    assert pytest.main(["-q", "-p", "no:xdist", "-p", "no:cacheprovider", *tests], plugins=[reached]) == 0
    for data in modules:
        for key in data.exit_code_by_key:
            names = reached.by_function[mangled_name_from_mutant_name(key)]
            began = time.monotonic()
            limit = 5 + 5 * sum(reached.seconds[name] for name in names)
            data.exit_code_by_key[key] = tried(key, names, checks, limit) if names else UNTESTED
            data.durations_by_key[key] = time.monotonic() - began
        os.chdir(folder)
        data.save()
        os.chdir("mutants")
        codes = list(data.exit_code_by_key.values())
        print(f"{data.path}: {len(codes)} changed, {codes.count(LIVES) + codes.count(UNTESTED)} live", flush=True)


def tried(key: str, names: Iterable[str], checks: dict[str, Any], seconds: float) -> int:
    """How a mutant ends; a child of this process becomes it."""
    function = key.partition("__mutmut_")[0]
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with open(reading) as told:
            noticed = told.read()
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if noticed in checks:
            NOTICED[function][noticed] += 1
        return TIMEOUT if code == -signal.SIGALRM else code
    signal.alarm(math.ceil(seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    trampoline.set_mutant_under_test(key)
    noticed = failing(list(names), checks, [name for name, _ in NOTICED[function].most_common(QUICK)])
    os.write(writing, noticed.encode())
    os._exit(KILLED if noticed else LIVES)


def failing(names: Iterable[str], checks: dict[str, Any], likely: Iterable[str]) -> str:
    """The first check that fails, or "": what noticed other changes of the function comes first, then what is quick."""
    replays = [name for name in names if ":" in name and name in checks]
    tests = [name for name in names if name not in checks]
    examples = [name for name in names if name in checks and name not in replays]
    for name in [*likely, *examples, *replays[:: max(1, len(replays) // QUICK)]]:
        if fails(checks[name]):
            return name
    words = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *tests]
    if tests and fails(lambda: pytest.main(words) == 0):
        return "tests"
    return next((name for name in replays[:: max(1, len(replays) // REPLAYS)] if fails(checks[name])), "")


def fails(check: Callable[[], bool]) -> bool:
    """Whether a check says no, or does not come to an end."""
    try:
        return not check()
    except BaseException:
        return True


if __name__ == "__main__":
    main()
