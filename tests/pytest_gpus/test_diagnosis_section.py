"""What the report of a failing test says, and what `devfix repair` makes of a suite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from git_repositories import make_repository
from suite_runs import MODEL, NAMED, run

from devfix.report.render.machine_readable.json import read

TEST = """
import torch
from model import Model


def test_forward():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    assert Model().to(device)(torch.ones(2, 4, device=device)).shape == (2, 4)
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(model=MODEL, test_model=TEST)
    pytester.makeini("[pytest]\npythonpath = .\n")
    return pytester


@pytest.mark.slow
def test_a_failing_test_is_diagnosed(suite: pytest.Pytester) -> None:
    done = run(suite, "--gpus", "1", "--world", "simulated")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["To repair it: devfix repair --run 'pytest test_model.py::test_forward'"])
    text = str(done.stdout)
    assert "-- devfix --" in text
    told = text[text.index("-- devfix --") :]
    assert "> return self.linear(x) + bias" in told
    assert "cuda:0" in told and "cpu" in told and "model.py:10" in told
    assert "/probe/" not in text, "the probe's own frames are nobody's business"


@pytest.mark.slow
def test_a_message_that_names_no_device_is_diagnosed(pytester: pytest.Pytester) -> None:
    library = "import torch\n\n\ndef median(x):\n    return torch.quantile(x, torch.tensor([0.5]))\n"
    test = "import torch\nfrom library import median\n\n\ndef test_median():\n    median(torch.ones(3).cuda())\n"
    pytester.makepyfile(library=library, test_library=test)
    pytester.makeini("[pytest]\npythonpath = .\n")
    done = run(pytester, "--gpus", "1", "--world", "simulated")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["Operands of torch.quantile:", "*created from Python values at library.py:5*"])


@pytest.mark.slow
def test_places_and_the_command_fit_the_folder_in_which_pytest_was_started(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = suite.mkdir("inner")
    (inner / "test_inner.py").write_text(TEST)
    monkeypatch.chdir(inner)
    text = str(run(suite, "--gpus", "1", "--world", "simulated").stdout)
    told = text[text.index("-- devfix --") :]
    assert f"created at ..{os.sep}model.py:10" in told and "created at test_inner.py:8" in told
    assert "To repair it: devfix repair --run 'pytest test_inner.py::test_forward'" in told


@pytest.mark.slow
def test_workers_of_xdist_tell_it_too(suite: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    done = run(suite, "-n", "1", "--gpus", "1", "--world", "simulated")
    done.assert_outcomes(failed=1)
    assert "> return self.linear(x) + bias" in str(done.stdout)


@pytest.mark.slow
def test_other_failures_and_expected_ones_are_not(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_model="""
        import pytest, torch

        def test_other():
            assert torch.ones(2, device="cuda").sum() == 3

        def test_expected():
            with pytest.raises(RuntimeError):
                torch.ones(1, device="cuda") + torch.ones(3)
                torch.ones(2, device="cuda") + torch.ones(2)
        """
    )
    done = run(suite, "--gpus", "1", "--world", "simulated")
    done.assert_outcomes(failed=1, passed=1)
    assert "-- devfix --" not in str(done.stdout)


@pytest.mark.slow
def test_the_advice_has_the_options_of_the_suite_itself(suite: pytest.Pytester) -> None:
    suite.makeconftest(
        """
        def pytest_addoption(parser):
            parser.addoption("--device", default="cpu")
            parser.addoption("--sizes", type=int, default=3)

        def pytest_generate_tests(metafunc):
            metafunc.parametrize("device", [metafunc.config.getoption("--device")])
        """
    )
    suite.makepyfile(
        test_model="""
        import torch
        from model import Model

        def test_forward(device):
            Model().to(device)(torch.ones(2, 4, device=device))
        """
    )
    done = run(suite, "--gpus", "1", "--world", "simulated", "--device", "cuda", "-q")
    assert "devfix repair --run \"pytest --device cuda 'test_model.py::test_forward[cuda]'\"" in str(done.stdout)


@pytest.mark.slow
def test_a_failure_of_a_process_that_a_test_starts(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_model="""
        import subprocess, sys

        PROGRAM = "import torch; from model import Model; Model().cuda()(torch.ones(2, 4, device='cuda'))"

        def test_good():
            pass

        def test_program():
            subprocess.run([sys.executable, "-c", PROGRAM], check=True)
        """
    )
    done = run(suite, "--gpus", "1", "--world", "simulated")
    done.assert_outcomes(passed=1, failed=1)
    text = str(done.stdout)
    assert "> return self.linear(x) + bias" in text[text.index("-- devfix --") :]


@pytest.mark.exhaustive
def test_repair_fixes_what_a_suite_finds(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "suite", {"model.py": MODEL, "test_model.py": TEST})
    words = "python -m pytest " + " ".join([*NAMED, "-q", "test_model.py", "--gpus", "1"])
    command = [sys.executable, "-m", "devfix", "repair", str(root), "--world", "simulated", "--run", words]
    done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True)
    data = read(done.stdout)
    assert (done.returncode, data.outcome) == (0, "repaired"), done.stdout + done.stderr
    assert [edit.path for fix in data.fixes for edit in fix.edits] == ["model.py"]


@pytest.mark.slow
def test_an_exception_with_names_of_doctests_is_none_of_theirs(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
        import doctest, torch

        class Odd(Exception):
            failures, exc_info = 3, True

        def test_odd():
            torch.ones(2).cuda()
            raise Odd
        """
    )
    done = run(pytester, "--gpus", "1", "--world", "simulated")
    done.assert_outcomes(failed=1)
    assert "INTERNALERROR" not in str(done.stdout) and "-- devfix --" not in str(done.stdout)


UNITTEST = """
import unittest

import torch
from model import Model


class TestModel(unittest.TestCase):
    def test_forward(self):
        Model().cuda()(torch.ones(2, 4, device="cuda"))
"""
DOCTEST = '''
import torch


def shifted(x):
    """Return the next numbers.

    >>> shifted(torch.ones(2).cuda())
    tensor([2., 2.], device='cuda:0')
    """
    return x + torch.ones(2)
'''


@pytest.mark.slow
def test_unittests_and_doctests_are_diagnosed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(model=MODEL, test_model=UNITTEST, library=DOCTEST)
    pytester.makeini("[pytest]\npythonpath = .\n")
    done = run(pytester, "--gpus", "1", "--world", "simulated", "--doctest-modules")
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines_random(
        [
            "To repair it: devfix repair --run 'pytest --doctest-modules library.py::library.shifted'",
            "> return x + torch.ones(2)",
            "To repair it: devfix repair --run 'pytest *test_model.py::TestModel::test_forward'",
            "> return self.linear(x) + bias",
        ]
    )
    assert "/probe/" not in str(done.stdout)


@pytest.mark.slow
def test_an_example_in_a_docstring_is_repaired(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project", {"library.py": DOCTEST})
    words = "pytest --doctest-modules library.py::library.shifted"
    done = subprocess.run(
        [Path(sys.executable).with_name("devfix"), "repair", root, "--run", words, "--world", "simulated"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "+    return x + torch.ones(2, device=x.device)" in done.stdout
