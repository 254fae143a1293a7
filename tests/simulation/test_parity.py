"""The parity program: a suite on the CPU and in a world, and the table of where they differ."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "parity.py"
SUITE = """
import os
import pytest
import torch

DEVICE = os.environ["TEST_DEVICE"]

def test_adds():
    assert (torch.ones(2, device=DEVICE) + 1).sum() == 4

def test_meets():
    torch.ones(2, device=DEVICE) + torch.ones(2)

@pytest.mark.parametrize("device", [DEVICE])
def test_numpy(device):
    torch.ones(2, device=device).numpy()

def test_second_gpu():
    assert DEVICE == "cpu" or torch.cuda.device_count() == 2

@pytest.mark.skipif(DEVICE == "cpu", reason="needs a GPU")
def test_on_gpus_alone():
    pass

@pytest.mark.skipif(DEVICE == "cpu", reason="needs a GPU")
def test_fails_on_gpus():
    assert not torch.cuda.is_available()

def test_default():
    assert torch.ones(1).device.type == os.environ["TEST_DEFAULT"]
"""
OTHERS = """
import os
import pytest
import torch

DEVICE = os.environ["TEST_DEVICE"]

@pytest.mark.parametrize("device", [DEVICE])
def test_adds(device):
    assert (torch.ones(2, device=device) + 1).device.type == DEVICE

def test_has_double():
    torch.ones(2, dtype=torch.float64).to(DEVICE)

def test_is_alone():
    assert not torch.xpu.is_available()
"""
SUITES = """
[small]
folder = {folder!r}
revision = "0123456789abcdef"
tests = ["test_small.py"]
gpus = 2
cpu_environment = {{ TEST_DEVICE = "cpu", TEST_DEFAULT = "cpu" }}
cuda_environment = {{ TEST_DEVICE = "cuda", TEST_DEFAULT = "cpu" }}
told = "A line about it."
[small.causes]
"on the same device" = "theirs"

[others]
folder = {folder!r}
tests = ["test_others.py"]
devices = ["mps", "xpu"]
cpu_environment = {{ TEST_DEVICE = "cpu" }}
mps_environment = {{ TEST_DEVICE = "mps" }}
xpu_environment = {{ TEST_DEVICE = "xpu" }}
[others.xpu_causes]
"test_is_alone" = "theirs, on xpu"

[defaults]
folder = {folder!r}
tests = ["test_small.py::test_default"]
default_device = true
environment = {{ TEST_DEVICE = "cpu" }}
cpu_environment = {{ TEST_DEFAULT = "cpu" }}
cuda_environment = {{ TEST_DEFAULT = "cuda" }}
"""


@pytest.mark.slow
def test_a_table_tells_each_difference_and_its_cause(tmp_path: Path) -> None:
    """Three tests differ, one for a known cause, and one needs a GPU; a device by default is one that the tests see."""
    (tmp_path / "test_small.py").write_text(SUITE)
    (tmp_path / "test_others.py").write_text(OTHERS)
    (tmp_path / "suites.toml").write_text(SUITES.format(folder=str(tmp_path)))
    command = [sys.executable, str(PROGRAM), str(tmp_path / "suites.toml"), "--out", str(tmp_path / "results")]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split(" | ") for line in ended.stdout.splitlines() if line.startswith("| ")][1:]
    row, mps, xpu, defaults = ([cell.strip("| ") for cell in row] for row in rows if row[0] != "| ---")
    assert 0 <= float(row[10]) < 1000
    assert [row[0], row[1], row[2], row[3], row[6], row[11], row[12], row[13]] == [
        "small 0123456789",
        "cuda",
        "2",
        "5",
        "4",
        "3 of 5",
        "1",
        "1 of 3",
    ]
    assert [defaults[0], defaults[3], defaults[6]] == ["defaults", "1", "1"]
    assert [[each[1], each[3], each[6], each[11], each[13]] for each in (mps, xpu)] == [
        ["mps", "3", "2", "2 of 3", "1 of 1"],
        ["xpu", "3", "2", "2 of 3", "1 of 1"],
    ]
    assert "### others on mps" in ended.stdout and "- what a Mac refuses: float64 (1): " in ended.stdout
    assert (
        "### others on xpu" in ended.stdout and "- theirs, on xpu (1): `test_others.py::test_is_alone`" in ended.stdout
    )
    assert "A line about it." in ended.stdout
    assert "- theirs (1): `test_small.py::test_meets`" in ended.stdout
    assert "- not looked into yet: `failed: TypeError: can't convert cuda:0 device type tensor to numpy" in ended.stdout
    assert "failed (skipped on the CPU): AssertionError: assert not True" in ended.stdout
    assert "`test_small.py::test_numpy[*]`" in ended.stdout


def test_times_are_those_of_tests_on_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """Left out are tests of one side, tests that are skipped on one, and results that do not tell."""
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    comparing = importlib.import_module("suites.comparing")
    host = {"a": (1.0, "passed"), "b": (1.0, "skipped"), "c": (2.0, "failed")}
    cuda = {"a": (2.0, "passed"), "b": (90.0, "passed"), "c": (4.0, "passed"), "d": (90.0, "passed")}
    sides = [
        {name: {"outcome": outcome, "worked": worked} for name, (worked, outcome) in side.items()}
        for side in (host, cuda)
    ]
    assert comparing.times(*sides) == "2.00"
    assert comparing.times({"a": {"outcome": "passed"}}, sides[1]) == ""


def test_names_are_the_same_with_every_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices in a name and the padding of numbered cases do not tell tests apart; the worst of one name is told."""
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    comparing = importlib.import_module("suites.comparing")
    for where, names in (("cpu", ("a[cpu]", "b_07")), ("cuda", ("a[cpu]", "a[cuda:0]", "b_007", "b_107"))):
        told = [{"test": name, "outcome": "failed" if name == "a[cuda:0]" else "passed", "words": ""} for name in names]
        lines = [json.dumps(each) for each in [*told, {"seconds": 1.0, "exit": 0}]]
        (tmp_path / where).write_text("\n".join(lines), "utf-8")
    host, cuda = (comparing.read(tmp_path / where)[0] for where in ("cpu", "cuda"))
    assert [set(host), set(cuda)] == [{"a[*]", "b_7"}, {"a[*]", "b_7", "b_107"}]
    assert list(comparing.differences(host, cuda)) == ["a[*]"]


def test_a_suite_tells_what_else_varies_in_its_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    comparing = importlib.import_module("suites.comparing")
    for where, number in (("cpu", "03_small"), ("cuda", "005_small")):
        told = {"test": f"test_case_{number}", "outcome": "passed", "words": ""}
        (tmp_path / where).write_text(json.dumps(told), "utf-8")
    host, cuda = (comparing.read(tmp_path / where, r"(?<=_case_)\d+")[0] for where in ("cpu", "cuda"))
    assert set(host) == set(cuda) == {"test_case_*_small"} and not comparing.differences(host, cuda)


def test_a_table_keeps_the_suites_that_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite that is run again has one row and one section, where it had them; a new one comes last."""
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    table = importlib.import_module("suites.table")
    one, two = "| one 1a | cuda | 1 |", "| two 2a | cuda | 1 |"
    later, three = "| two 2b | cuda | 1 |", "| three 3a | cuda | 1 |"
    first = table.page([one, two], ["### one\n", "- theirs (1): `a`", "", "### two\n", "old", ""])
    assert table.joined(first, [], []) == first
    new = ["### two\n", "new", "", "### three\n", "all", ""]
    again = table.joined(first, [later, three], new)
    assert again == table.page([one, later, three], ["### one\n", "- theirs (1): `a`", "", *new])
    assert table.joined("", [three], new[3:]) == table.page([three], new[3:])
    other = "| two 2b | mps | 1 |"  # the same suite on another device has a row and a section of its own
    both = table.joined(first, [other], ["### two on mps\n", "refused", ""])
    assert both == table.page(
        [one, two, other],
        ["### one\n", "- theirs (1): `a`", "", "### two\n", "old", "", "### two on mps\n", "refused", ""],
    )


def test_a_suite_is_told_its_device_by_an_attribute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite that has neither an option nor a variable for the device has a class with an attribute."""
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    running = importlib.import_module("suites.running")
    recorder = importlib.import_module("suites.recorder")
    (tmp_path / "cases_of_a_suite.py").write_text("class Case:\n    device = None\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    told = running.environment({"device_attribute": "cases_of_a_suite.Case.device"}, "cuda", tmp_path / "out")
    monkeypatch.setenv(recorder.ATTRIBUTE, told[recorder.ATTRIBUTE])
    recorder.pytest_sessionstart()
    assert str(importlib.import_module("cases_of_a_suite").Case.device) == "cuda"
