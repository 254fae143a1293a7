"""Functions are called in every way that Python has, and traced, with the results of the CPU."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
# CUDA has no kernel for them.
ABSENT = ("sparse.mm.reduce ", "histogram ", "histogramdd ")
WAYS = ("position", "keyword", "method", "method keyword")


def report(*command: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=FOLDER)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    found["differences"] = {name: text for name, text in found["differences"].items() if not name.startswith(ABSENT)}
    return found


def check_calls(which: str, least: int) -> None:
    found = report("run_calls.py", which)
    assert not found["differences"], json.dumps(found["differences"], indent=1)
    for way in WAYS:
        assert found["counts"][way] >= least and found["counts"][f"traced {way}"] >= least


@pytest.mark.slow
def test_views_are_called_by_position_and_by_keyword() -> None:
    check_calls("9/2", 20)


@pytest.mark.exhaustive
def test_functions_are_called_by_position_and_by_keyword() -> None:
    check_calls("1", 300)


@pytest.mark.parametrize(
    ("samples", "least"),
    [pytest.param(1, 400, marks=pytest.mark.slow), pytest.param(3, 1000, marks=pytest.mark.exhaustive)],
)
def test_modules_are_traced(samples: int, least: int) -> None:
    found = report("run_traced_modules.py", str(samples))
    assert not found["differences"], json.dumps(found["differences"], indent=1)
    assert found["compared"] > least
