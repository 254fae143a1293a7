"""One run of a suite: endless tests end, and a test that ends the process leaves the others theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from devfix.find.results import read_results

ENDLESS = """
import time

def test_first():
    pass

def test_endless():
    while True:
        time.sleep(0.01)

def test_last():
    pass
"""


def lifted(folder: Path, order: dict[str, object], *arguments: str) -> Path:
    record = folder / "record"
    record.mkdir()
    (record / "order.json").write_text(json.dumps(order))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--devfix-lift",
        f"--lift-record={record}",
    ]
    subprocess.run([*command, *arguments], cwd=folder, capture_output=True)
    return record


@pytest.mark.slow
def test_an_endless_test_ends(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(ENDLESS)
    told = read_results(lifted(tmp_path, {"timeout": 0.5}))
    results = {test.partition("::")[2]: result for test, result in told.results.items()}
    assert results == {"test_first": "passed", "test_endless": "failed", "test_last": "passed"}
    assert "longer than 0.5 seconds" in told.reasons["test_it.py::test_endless"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "ran"),
    [
        ({"only": ["test_it.py::test_last"]}, ["test_last"]),
        ({"exclude": ["*::test_endless"]}, ["test_first", "test_last"]),
        ({"select": ["test_it.py::test_[fl]*"], "skip": ["test_it.py::test_last"]}, ["test_first"]),
        ({"exclude": ["test_it.py"]}, []),
    ],
)
def test_tests_are_chosen(tmp_path: Path, order: dict[str, object], ran: list[str]) -> None:
    (tmp_path / "test_it.py").write_text(ENDLESS)
    told = read_results(lifted(tmp_path, order))
    assert [test.partition("::")[2] for test in told.results] == ran


EXPECTED = """
import pytest
import torch

@pytest.mark.xfail(torch.cuda.is_available(), reason="a kernel of CUDA's is wrong", strict=True)
def test_sum():
    assert torch.ones(3).sum().item() == 3
"""


@pytest.mark.slow
def test_what_is_to_fail_on_a_real_gpu_may_pass_on_a_simulated_one(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(EXPECTED)
    told = read_results(lifted(tmp_path, {}, "--gpus", "1", "--lift"))
    assert (told.results, told.reasons) == ({"test_it.py::test_sum": "passed"}, {"test_it.py::test_sum": ""})
