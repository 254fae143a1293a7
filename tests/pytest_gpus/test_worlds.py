"""`pytest --gpus N` and the mark `gpus`: which world each test of a suite runs in."""

from __future__ import annotations

import pytest
from suite_runs import run

COUNT = """
import os, subprocess, sys
import pytest, torch

def test_sees_them():
    assert torch.cuda.device_count() == {count}

def test_children_see_them():
    ask = "import torch; print(torch.cuda.device_count())"
    assert subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stdout.split() == ["{count}"]

def test_fixture(gpu_devices):
    assert gpu_devices == [torch.device("cuda", index) for index in range({count})]
    assert [torch.ones(1, device=device).device for device in gpu_devices] == gpu_devices
"""


@pytest.mark.slow
def test_a_suite_sees_the_gpus_it_was_given(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import torch\nassert torch.cuda.device_count() == 2")
    pytester.makepyfile(COUNT.format(count=2))
    done = run(pytester, "--gpus", "2", "--world", "simulated")
    done.assert_outcomes(passed=3)
    done.stdout.fnmatch_lines(["devfix: a world with 2 simulated GPUs"])


@pytest.mark.slow
def test_workers_of_xdist_follow(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(COUNT.format(count=3))
    run(pytester, "-n", "2", "--gpus=3", "--world=simulated").assert_outcomes(passed=3)


@pytest.mark.slow
def test_addopts_and_testpaths(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\naddopts = --gpus 2 --world simulated\ntestpaths = checks\n")
    pytester.mkdir("checks").joinpath("test_it.py").write_text(COUNT.format(count=2))
    pytester.path.joinpath("checks", "conftest.py").write_text(
        "def pytest_addoption(parser): parser.addoption('--mode', default='fast')\n"
    )
    run(pytester, "--mode=slow").assert_outcomes(passed=3)


OTHERS = """
import subprocess, sys
import pytest, torch

def test_the_world_of_the_session(gpu_devices):
    assert torch.backends.mps.is_available() and gpu_devices == [torch.device("mps:0")]
    ask = "import torch; print(torch.ones(1, device='mps').device)"
    assert subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stdout.split() == ["mps:0"]

@pytest.mark.gpus(2, world="xpu")
def test_another_kind(gpu_devices):
    assert not torch.backends.mps.is_available() and gpu_devices == [torch.device("xpu", index) for index in range(2)]

@pytest.mark.gpus(1, world="simulated")
def test_cuda():
    assert torch.cuda.is_available() and torch.ones(1, device="cuda").is_cuda

@pytest.mark.gpus(2)
def test_a_mac_has_one():
    raise AssertionError

def test_the_world_of_the_session_again():
    assert torch.ones(1, device="mps").is_mps and not torch.cuda.is_available()
"""


@pytest.mark.slow
def test_suites_and_marks_name_other_accelerators(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(OTHERS)
    done = run(pytester, "--world", "mps", "-rs")
    done.assert_outcomes(passed=4, skipped=1)
    done.stdout.fnmatch_lines(["devfix: a world with 1 simulated GPU (mps)", "*a machine with mps has one"])


MARKED = """
import unittest
import pytest, torch

seen = []

@pytest.fixture(scope="session")
def everything(gpu_devices):
    return gpu_devices

@pytest.mark.gpus(2)
def test_two(everything):
    assert torch.cuda.device_count() == len(everything) == 2
    with pytest.raises(RuntimeError, match="cuda:1 and cuda:0|cuda:0 and cuda:1|same device"):
        torch.ones(1, device="cuda:0") + torch.ones(1, device="cuda:1")

def test_plain():
    assert torch.cuda.device_count() == {plain}

@pytest.mark.gpus(3)
class TestThree:
    def test_three(self, everything):
        assert torch.cuda.device_count() == len(everything) == 3

    @pytest.mark.gpus(1, world="simulated")
    def test_one(self, everything):
        assert torch.cuda.device_count() == len(everything) == 1

@pytest.mark.gpus(4)
class Unit(unittest.TestCase):
    def test_four(self):
        self.assertEqual(torch.cuda.device_count(), 4)

@pytest.mark.gpus(0)
def test_none():
    assert not torch.cuda.is_available()
    with pytest.raises((RuntimeError, AssertionError)):
        torch.ones(1, device="cuda")

def test_plain_again():
    assert torch.cuda.device_count() == {plain}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("options", "plain"), [((), 0), (("--gpus", "5"), 5)])
def test_a_mark_asks_for_a_world(pytester: pytest.Pytester, options: tuple[str, ...], plain: int) -> None:
    pytester.makepyfile(MARKED.format(plain=plain))
    run(pytester, "--strict-markers", *options).assert_outcomes(passed=7)


@pytest.mark.slow
def test_a_mark_for_a_module(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest, torch\npytestmark = pytest.mark.gpus(2)\n" + COUNT.format(count=2))
    run(pytester).assert_outcomes(passed=3)


@pytest.mark.slow
def test_torch_is_imported_by_the_test_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys, pytest

        @pytest.mark.gpus(2)
        def test_late():
            assert "torch" not in sys.modules
            import torch
            assert torch.cuda.device_count() == 2
            torch.set_default_dtype(torch.float64)
            torch.cuda.set_device(1)

        @pytest.mark.gpus(2)
        def test_after():
            import torch
            assert torch.get_default_dtype() is torch.float32 and torch.cuda.current_device() == 0

        def test_left():
            import torch
            assert torch.cuda.device_count() == 0
        """
    )
    run(pytester).assert_outcomes(passed=3)


@pytest.mark.slow
def test_without_the_options_nothing_is_loaded(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import os, sys

        def test_plain():
            heavy = ("torch", "libcst", "rich", "devfix.report", "devfix.trace", "devfix probe")
            heavy += ("devfix.pytest_gpus.tests",)
            assert not [name for name in heavy if name in sys.modules]
            assert "DEVFIX_PROBE" not in os.environ
        """
    )
    run(pytester).assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_conftest_keeps_its_option(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_addoption(parser): parser.addoption('--gpus', type=int, default=0)")
    pytester.makepyfile(
        """
        import torch

        def test_theirs(pytestconfig):
            assert pytestconfig.getoption("--gpus") == 7
            assert torch.cuda.device_count() == (pytestconfig.option.devfix_gpus is not None) * 2
        """
    )
    told = run(pytester, "--gpus", "7")
    told.assert_outcomes(passed=1)
    told.stdout.fnmatch_lines(["devfix: * --devfix-gpus N gives its tests N GPUs"])
    run(pytester, "--gpus", "7", "--devfix-gpus", "2", "--devfix-world", "simulated").assert_outcomes(passed=1)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--gpus", "2")])
def test_a_conftest_found_later_keeps_its_option(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    folder = pytester.mkpydir("package")
    (folder / "conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--gpus', type=int)")
    (folder / "test_late.py").write_text("def test_late(pytestconfig): assert pytestconfig.rootpath")
    run(pytester, *options).assert_outcomes(passed=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--gpus", "two"), "--gpus two: say how many GPUs the tests see, a number from 0 to 64"),
        (("--gpus=65",), "--gpus 65: say how many GPUs the tests see, a number from 0 to 64"),
        (("--gpus",), "--gpus : say how many GPUs the tests see, a number from 0 to 64"),
        (("--world", "mps", "--gpus", "2"), "2 GPUs were asked for, and a machine with mps has one*"),
        (("--world", "mps", "--gpus", "2", "--lift"), "2 GPUs were asked for, and a machine with mps has one*"),
        (("--world", "mars"), "--world mars: there is no such world; choose auto, real, simulated, mps or xpu"),
        (("--world", "real", "--gpus", "60"), "60 real GPUs were asked for, and this machine has *"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(pytester: pytest.Pytester, options: tuple[str, ...], words: str) -> None:
    pytester.makepyfile("def test_it(): pass")
    done = run(pytester, *options)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"ERROR: {words}"])


@pytest.mark.slow
def test_a_mark_that_is_wrong_and_one_that_cannot_be(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.gpus("two")
        def test_wrong(): pass

        @pytest.mark.gpus(60, world="real")
        def test_too_many(): pass

        def test_without_a_world(gpu_devices):
            gpu_devices[0]
        """
    )
    done = run(pytester, "-rs")
    done.assert_outcomes(errors=1, skipped=2)
    done.stdout.fnmatch_lines(["*@pytest.mark.gpus takes how many GPUs (0 to 64)*"])
