"""Device failures that end nothing: caught and printed, or raised where nobody waits for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from verdict_programs import project

import devfix
from devfix.model import Outcome
from devfix.report.render.html.repair import repair_page
from devfix.report.render.machine_readable.json import read, write
from devfix.report.render.pull_request.summary import summary
from devfix.report.render.terminal.text import text

pytestmark = pytest.mark.slow

BEGIN = """import logging
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def total(weight):
    bias = torch.ones(3)
    return (weight * 2 + bias).sum()


weight = torch.ones(3).to(device)
"""
LOGS = """try:
    total(weight)
except RuntimeError as error:
    logging.error("step failed: %s", error)
"""
FALLS_BACK = """try:
    total(weight)
except RuntimeError:
    weight = weight.cpu()
print(total(weight).item())
"""
SWALLOWS = {
    "a context manager": (
        "class Timer:\n    def __enter__(self):\n        return self\n\n"
        "    def __exit__(self, *_):\n        return True\n\n\n"
        "sums = []\nwith Timer():\n    sums.append(total(weight).item())\nprint(len(sums), 'sums', sum(sums))\n"
    ),
    "a return in finally": (
        "def last():\n    found = 0.0\n    try:\n        found += total(weight).item()\n"
        "    finally:\n        return found\n\n\nprint(f'{last():.4f}')\n"
    ),
    "a log of its type": (
        "done = 0\nfor step in range(3):\n    try:\n        total(weight)\n        done += 1\n"
        "    except Exception as error:\n        logging.warning('skipping %d (%s)', step, type(error).__name__)\n"
        "print(f'{done} of 3 steps')\n"
    ),
    "a step without its line": (
        "for _ in range(2):\n    try:\n        print(total(weight).item())\n    except RuntimeError:\n        pass\n"
    ),
}
UNHEARD = {
    "an exit function": "import atexit\natexit.register(total, weight)\n",
    "a destructor": "class A:\n    def __del__(self):\n        total(weight)\n\n\na = A()\ndel a\n",
    "a destructor at the very end": "class A:\n    def __del__(self):\n        total(weight)\n\n\na = A()\n",
    "a weak reference": (
        "import weakref\n\n\nclass A:\n    pass\n\n\na = A()\nr = weakref.ref(a, lambda _: total(weight))\ndel a\n"
    ),
    "a thread": "import threading\nt = threading.Thread(target=total, args=(weight,))\nt.start()\n",
    "a future that nobody asks": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(1) as pool:\n    pool.submit(total, weight)\n"
    ),
}


def test_one_that_is_logged_is_told_and_not_clean(tmp_path: Path) -> None:
    report = devfix.repair(project(tmp_path, BEGIN + LOGS), run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "unrepaired" and report.last_run is not None
    assert report.last_run.outcome is Outcome.CLEAN
    (repair,) = report.repairs
    assert repair.fix is None and repair.failure.at is not None and repair.failure.at.line == 9
    assert any("--include-handled" in note for note in report.notes)


@pytest.mark.parametrize("cause", ["", " from error", " from None"])
def test_one_in_whose_place_the_program_raises_an_error_of_its_own_is_repaired(cause: str, tmp_path: Path) -> None:
    raises = f"try:\n    total(weight)\nexcept RuntimeError as error:\n    raise ValueError('a step failed'){cause}\n"
    report = devfix.repair(project(tmp_path, BEGIN + raises), run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "repaired", (report.repairs, report.notes)
    assert "+    bias = torch.ones(3, device=weight.device)" in report.diff


@pytest.mark.parametrize("name", SWALLOWS)
def test_one_that_changes_what_is_printed_is_told_and_not_clean(name: str, tmp_path: Path) -> None:
    root = project(tmp_path, BEGIN + SWALLOWS[name])
    report = devfix.repair(root, run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "unrepaired" and report.last_run is not None, report.notes
    assert report.last_run.outcome is Outcome.CLEAN and not report.diff
    (repair,) = report.repairs
    assert repair.failure.at is not None and repair.failure.at.line == 9
    assert any("the caught failure changes the results: on a GPU the program" in note for note in report.notes)
    record = read(write(report))
    shown = " ".join(text(record).split())
    assert "run again with --include-handled" in shown and "write a rule" not in shown
    for page in (shown, repair_page(record), summary(record)):
        assert "Not repaired: the program catches it" in page and "no rule" not in page.lower()


@pytest.mark.parametrize("rest", [LOGS, FALLS_BACK, *SWALLOWS.values()])
def test_it_is_repaired_where_that_is_asked_for(rest: str, tmp_path: Path) -> None:
    root = project(tmp_path, BEGIN + rest)
    report = devfix.repair(root, run="python main.py", world="simulated", dry_run=True, include_handled=True)
    assert report.outcome == "repaired", (report.repairs, report.notes)
    assert "+    bias = torch.ones(3, device=weight.device)" in report.diff


def test_a_program_that_tries_something_else_is_clean(tmp_path: Path) -> None:
    root = project(tmp_path, BEGIN + FALLS_BACK)
    report = devfix.repair(root, run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "clean" and report.last_run is not None and report.last_run.handled


@pytest.mark.parametrize("name", UNHEARD)
def test_one_that_nobody_hears_of_is_repaired(name: str, tmp_path: Path) -> None:
    root = project(tmp_path, BEGIN + UNHEARD[name])
    report = devfix.repair(root, run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "repaired", (report.repairs, report.notes, report.last_run)
    assert "+    bias = torch.ones(3, device=weight.device)" in report.diff


def test_a_future_that_is_asked_is_the_programs_own_affair(tmp_path: Path) -> None:
    asked = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(1) as pool:\n    print(type(pool.submit(total, weight).exception()))\n"
    )
    report = devfix.repair(project(tmp_path, BEGIN + asked), run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "clean"


def test_the_program_ends_in_its_own_order(tmp_path: Path) -> None:
    last = (
        "import atexit\nimport torch\n\n\nclass A:\n    def __del__(self):\n        print('deleted')\n\n\n"
        "a = A()\nprint('end')\n"
    )
    program = "import atexit\natexit.register(lambda: print('first', a is not None))\n" + last
    report = devfix.repair(project(tmp_path, program), run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "clean" and report.last_run is not None
    assert report.last_run.stdout == "end\nfirst True\ndeleted\n"
