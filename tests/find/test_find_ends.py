"""How a search ends: by an interrupt, by its budget, by the time of a test; in several processes, with a baseline."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from git_repositories import git, write
from searches import FINDS, LIBRARY, command, find, searched_repository
from waiting import until, with_enough_time

from devfix.find.find import FindOptions, open_search
from devfix.workspace import Repository

WAITS = """
import pathlib, time, torch

def test_waits():
    if torch.ones(1).is_cuda:
        pathlib.Path({path!r}).touch()
        while True:
            time.sleep(0.01)
"""


# Collected at once on the CPU, and never on a GPU.
COLLECTED_SLOWLY = """
import time, torch

if torch.cuda.is_available():
    time.sleep(1e6)

def test_something():
    assert torch.ones(1).item() == 1
"""


@contextmanager
def terminal() -> Iterator[tuple[int, list[str]]]:
    """Give the end of a terminal that a program writes to, and what it has written so far."""
    near, far = pty.openpty()
    shown: list[str] = []

    def read() -> None:
        with contextlib.suppress(OSError):  # the far end is closed
            while data := os.read(near, 65536):
                shown.append(data.decode("utf-8", "replace"))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield far, shown
    finally:
        os.close(far)
        reader.join()
        os.close(near)


@pytest.mark.slow
def test_a_budget_that_is_over_before_a_test_is_lifted_is_no_clean_search(tmp_path: Path) -> None:
    root = searched_repository(tmp_path, slowly=COLLECTED_SLOWLY)
    searched = subprocess.run(command(root, "--budget", "40s"), capture_output=True, text=True)
    told = json.loads(searched.stdout)
    assert searched.returncode == 2 and told["passed_cpu"] == 1 and told["passed_lifted"] == 0, searched.stderr
    assert "lifted to cuda:1" not in searched.stderr, "the first lifted run needs all of the time"


@pytest.mark.slow
def test_an_interrupt_keeps_what_was_found(tmp_path: Path) -> None:
    waits = tmp_path / "waits"
    root = searched_repository(tmp_path, a_finds=FINDS, b_waits=WAITS.format(path=str(waits)))
    with terminal() as (end, shown):
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "150"}
        running = subprocess.Popen(command(root), stdout=subprocess.PIPE, stderr=end, text=True, env=environment)
        until(lambda: waits.exists() or running.poll() is not None)
        until(lambda: "1 of 2 tests, 1 with a finding" in "".join(shown) or running.poll() is not None)
        running.send_signal(signal.SIGINT)
        output, _ = running.communicate()
    told = json.loads(output)
    assert running.returncode == 1 and told["interrupted"], shown
    (found,) = told["findings"]
    assert (found["path"], found["line"], found["confirmed"], found["confidence"]) == ("library.py", 5, False, "low")
    assert git(root, "status", "--porcelain=v1") == "" and git(root, "worktree", "list").count("\n") == 0


@pytest.mark.slow
def test_an_endless_test_costs_its_time_alone(tmp_path: Path) -> None:
    waits = tmp_path / "waits"
    root = searched_repository(tmp_path, a_waits=WAITS.format(path=str(waits)), b_finds=FINDS)
    told = with_enough_time(lambda limit: find(root, "--timeout", f"{limit}s"), lambda told: bool(told["findings"]), 2)
    assert waits.exists() and [found["line"] for found in told["findings"]] == [5]
    assert [each["test"] for each in told["failed_lifted"]] == ["tests/test_a_waits.py::test_waits"]
    assert "the test ran for longer than" in told["failed_lifted"][0]["reason"]
    assert (told["passed_cpu"], told["passed_lifted"], told["failed_cpu"]) == (2, 0, [])


@pytest.mark.slow
def test_a_budget_ends_what_no_time_of_a_test_ends(tmp_path: Path) -> None:
    waits = tmp_path / "waits"
    root = searched_repository(tmp_path, a_finds=FINDS, b_waits=WAITS.format(path=str(waits)))

    def search(budget: float) -> dict[str, Any]:
        return find(root, "--timeout", "1h", "--budget", f"{budget}s", "--no-silent")

    told = with_enough_time(search, lambda told: bool(told["findings"]) and waits.exists(), 40)
    assert waits.exists() and [found["line"] for found in told["findings"]] == [5]
    assert any("--budget gives more" in note for note in told["notes"])


ENDLESS_ALONE = """
import time, torch
from library import shifted

def test_shifted(request):
    while len(request.session.items) == 1:
        time.sleep(0.01)
    shifted(torch.ones(2))

def test_other():
    shifted(torch.ones(2))
"""


@pytest.mark.slow
def test_a_confirmation_that_the_budget_cuts_short_says_nothing_of_the_finding(tmp_path: Path) -> None:
    root = searched_repository(tmp_path, finds=ENDLESS_ALONE)
    repository = Repository.open(root)
    asked = FindOptions(python=sys.executable, timeout=3600.0, silent=frozenset())
    with open_search(repository, asked, lambda title, told: None, lambda title: None) as (search, (suite,)):
        search.look(suite)
        assert [cause.place.line for cause in search.causes] == [5] and not list(search.notes)
        search.budget -= search.left - 1.0
        search.confirm()
    (cause,) = search.causes
    assert (cause.confirmed, cause.confidence) == (False, "low")
    assert list(search.notes) == ["the budget was over before every finding was run alone; --budget gives more"]


@pytest.mark.slow
def test_several_processes_find_the_same_and_a_baseline_leaves_what_is_new(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    root = searched_repository(
        tmp_path, finds=FINDS, passes="import torch\n\ndef test_passes():\n    assert torch.ones(1).sum() == 1\n"
    )
    known = find(root, "-n", "2", "--no-silent")
    assert [(found["line"], found["confirmed"]) for found in known["findings"]] == [(5, True)]
    assert (known["passed_cpu"], known["passed_lifted"]) == (2, 1)
    baseline = tmp_path / "known.json"
    baseline.write_text(json.dumps(known))
    write(root, {"tests/test_more.py": FINDS.replace("shifted", "scaled"), "library.py": "\n" + LIBRARY})
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=more")
    told = find(root, "--baseline", str(baseline), "--no-silent")
    assert [found["line"] for found in told["findings"]] == [9]
    assert [found["line"] for found in told["known"]] == [6]


@pytest.mark.slow
def test_scripts_that_do_not_run_by_themselves_are_left_out(tmp_path: Path) -> None:
    root = searched_repository(tmp_path)
    scripts = {
        "runs": "import torch\nfrom library import shifted\nprint(shifted(torch.ones(2)))\n",
        "asks": "import sys, torch\nprint(torch.ones(int(sys.argv[1])))\n",
    }
    write(
        root, {f"examples/{name}.py": f"import sys\nsys.path.insert(0, '.')\n{text}" for name, text in scripts.items()}
    )
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=examples")
    told = find(root, "--no-silent")
    assert [(found["line"], found["tests"], found["confirmed"]) for found in told["findings"]] == [
        (5, ["examples/runs.py::script"], True)
    ]
    assert [each["test"] for each in told["left_out"]] == ["examples/asks.py"]
    assert (told["tests"], told["failed_cpu"]) == (1, [])


@pytest.mark.slow
def test_a_lifted_run_that_ends_at_its_start_is_told(tmp_path: Path) -> None:
    root = searched_repository(tmp_path, finds=FINDS)
    starts = "def pytest_sessionstart(session):\n    if torch.cuda.is_available():\n        os._exit(7)\n"
    write(root, {"conftest.py": f"import os, torch\n\n{starts}"})
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=conftest")
    searched = subprocess.run(command(root, "--no-silent"), capture_output=True, text=True)
    told = json.loads(searched.stdout)
    assert searched.returncode == 2, searched.stderr
    assert (told["findings"], told["passed_cpu"], told["passed_lifted"]) == ([], 1, 0)
    assert told["notes"] == [
        f"1 of 1 tests has no result lifted to cuda:{index}; pytest ended with: exit code 7" for index in (0, 1)
    ]


@pytest.mark.slow
def test_a_test_by_which_pytest_ends_leaves_the_others_theirs(tmp_path: Path) -> None:
    """A warning is named that cannot be imported, and the options stop at the first failure: the last test runs."""
    ends = '@pytest.mark.filterwarnings("ignore::not_there.SomeWarning")\ndef test_ends():\n    pass\n'
    fails = "def test_fails():\n    assert False\n"
    root = searched_repository(tmp_path, ends=f"import pytest\n\n{ends}", fails=fails, finds=FINDS)
    write(root, {"pytest.ini": "[pytest]\npythonpath = .\naddopts = -x\n"})
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=options")
    told = find(root, "--no-silent", "--gpus", "1")
    assert [found["line"] for found in told["findings"]] == [5]
    assert sorted(told["failed_cpu"]) == ["tests/test_ends.py::test_ends", "tests/test_fails.py::test_fails"]
    assert told["missing"] == ["not_there"]


@pytest.mark.slow
def test_what_selects_nothing_is_wrong_usage(tmp_path: Path) -> None:
    root = searched_repository(tmp_path, a=FINDS)
    done = subprocess.run(command(root, "--select", "shifted"), capture_output=True, text=True)
    assert done.returncode == 2 and "--select shifted: no test is named so" in done.stderr, done.stderr
    done = subprocess.run(command(root / "tests" / "test_a.py"), capture_output=True, text=True)
    assert done.returncode == 2 and "test_a.py: a file; to search its tests alone: devfix find --select" in done.stderr


@pytest.mark.slow
def test_a_suite_that_cannot_begin_is_told_apart_from_a_selection_of_nothing(tmp_path: Path) -> None:
    root = searched_repository(tmp_path, a=FINDS)
    write(root, {"tests/conftest.py": 'raise RuntimeError("no settings")\n'})
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=conftest")
    told = find(root, "--no-silent", "--select", "tests")
    assert (told["tests"], told["findings"]) == (0, [])
    assert told["notes"] == ["pytest ran none of the tests: RuntimeError: no settings"]


@pytest.mark.slow
def test_tests_that_ask_for_a_gpu_by_its_name_are_counted_where_they_pass(tmp_path: Path) -> None:
    asks = "import torch\n\ndef test_asks():\n    assert torch.ones(2, device='cuda').sum() == 2\n"
    told = find(searched_repository(tmp_path, asks=asks), "--gpus", "1")
    assert (told["tests"], told["passed_cpu"], told["passed_on_gpu_alone"], told["findings"]) == (1, 0, 1, [])
