"""What the run on the CPU says of a suite."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from devfix.find.control import missing_modules, needing_gpus, notes_of, own_modules
from devfix.find.passes import PassResult
from devfix.find.results import TestResults
from devfix.find.suites import Suite, SuiteKind
from devfix.model import Outcome, Run, World
from devfix.pytest_gpus.lifted.results import last_line

TESTS = Suite(SuiteKind.tests, ())
LACKS = "E   ModuleNotFoundError: No module named 'einops.layers'"


def ended(outcome: Outcome, tests: TestResults, stdout: str = "") -> PassResult:
    return PassResult(tests, run=Run(World("cpu"), ("pytest",), outcome, 0, 1.0, stdout))


@pytest.mark.parametrize(
    ("outcome", "tests", "said"),
    [
        (Outcome.CLEAN, TestResults(2, results={"a": "passed", "b": "failed"}), []),
        (
            Outcome.TIMEOUT,
            TestResults(3, results={"a": "passed"}),
            ["the budget was enough for 1 of 3 tests; --budget gives more"],
        ),
        (Outcome.TIMEOUT, TestResults(2, results={"a": "passed", "b": "passed"}), []),
        (Outcome.TIMEOUT, TestResults(), ["the budget was enough for 0 of the tests; --budget gives more"]),
        (Outcome.CLEAN, TestResults(), ["pytest ran none of the tests: no tests ran in 0.01s"]),
        (
            Outcome.OTHER,
            TestResults(1, results={"a": "failed"}, reasons={"a": "E   OSError: no disk"}),
            ["none of the tests passes on the CPU: OSError: no disk"],
        ),
        (
            Outcome.OTHER,
            TestResults(collection={"a": LACKS, "b": "E   SyntaxError: x"}),
            ["1 file of the tests could not be collected: SyntaxError: x"],
        ),
    ],
)
def test_what_keeps_tests_from_being_lifted_is_said(outcome: Outcome, tests: TestResults, said: list[str]) -> None:
    assert list(notes_of(TESTS, ended(outcome, tests, "\nno tests ran in 0.01s\n"))) == said


def test_what_the_user_left_out_is_not_said() -> None:
    assert not list(notes_of(TESTS, ended(Outcome.CLEAN, TestResults(), "\n2 deselected in 0.07s\n")))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("E   torch._dynamo.exc.Failed: refused by:\nE   flex\nE   \nE   Set VERBOSE=1 for more", "refused by: flex"),
        ('E     File "/a.py", line 1\nE       x=\nE         ^\nE   SyntaxError: x', "SyntaxError: x"),
        ("a.py:1: in f\nE   AssertionError\nE   assert 1 == 2\n\na.py:3: in g\nE   ValueError: 3", "ValueError: 3"),
        ("E   no exception", "no exception"),
        ("a fixture is missing", "a fixture is missing"),
    ],
)
def test_the_exception_of_a_file_is_said(told: str, said: str) -> None:
    (note,) = notes_of(TESTS, ended(Outcome.OTHER, TestResults(collection={"a": told}), ""))
    assert note.endswith(said)


def test_a_run_that_ends_late_lacks_no_test() -> None:
    late = ended(Outcome.TIMEOUT, TestResults(3, results={"a": "passed", "b": "finding"}))
    assert late.lacks(["a", "b", "c"]) and late.lacks() and not late.lacks(["a", "b"])
    assert not ended(Outcome.CLEAN, TestResults(1, results={})).lacks(["a"])


def test_an_exception_in_a_hook_of_the_suite_is_said() -> None:
    output = "INTERNALERROR>     import onnx\nINTERNALERROR> ModuleNotFoundError: No module named 'onnx'\n\na warning\n"
    said = ["pytest ran none of the tests: ModuleNotFoundError: No module named 'onnx'"]
    assert list(notes_of(TESTS, ended(Outcome.OTHER, TestResults(), output))) == said


def test_an_exception_of_a_conftest_is_said_from_its_beginning() -> None:
    output = "conftest.py:1: in <module>\nE   RuntimeError:\nE   undefined value autograd:\nE     gx = self.gx\n"
    said = ["pytest ran none of the tests: RuntimeError: undefined value autograd:"]
    assert list(notes_of(TESTS, ended(Outcome.OTHER, TestResults(), output))) == said


def test_an_exception_in_an_example_is_said_without_its_place() -> None:
    raised = (
        "UNEXPECTED EXCEPTION: NameError('x')\nTraceback (most recent call last):\nNameError: name 'x' is not defined"
    )
    report = SimpleNamespace(longrepr=f"{raised}\n/library/a.py:3: UnexpectedException")
    tests = TestResults(1, results={"a": "failed"}, reasons={"a": last_line(report)})
    said = ["none of the tests passes on the CPU: NameError: name 'x' is not defined"]
    assert list(notes_of(TESTS, ended(Outcome.OTHER, tests))) == said


def test_missing_modules_are_named() -> None:
    lacking = {"b": LACKS, "c": "No module named 'aaa'", "d": "No module named 'torch._six'"}
    assert missing_modules(TestResults(reasons={"a": LACKS}, collection=lacking)) == (
        "aaa",
        "einops.layers",
        "torch._six",
    )


def test_tests_that_need_a_gpu_are_known_by_their_reasons() -> None:
    reasons = {
        "a": "Skipped: CUDA not available",
        "b": "Skipped: requires 2 GPUs",
        "c": "Skipped: needs a download",
        "d": "E   AssertionError: cuda is not the CPU",
        "e": "E   RuntimeError: Found no NVIDIA driver on your system.",
    }
    results = dict.fromkeys("abc", "skipped") | dict.fromkeys("de", "failed")
    tests = TestResults(results=results, reasons=reasons)
    assert needing_gpus(tests) == ["a", "b", "e"]
    said = "1 of 5 tests ask for a GPU: they failed on the CPU, and were lifted all the same"
    assert list(notes_of(TESTS, ended(Outcome.CLEAN, tests))) == [said]


def test_a_missing_module_of_the_repository_itself_is_told() -> None:
    tracked = ["src/kinematics/__init__.py", "src/kinematics/urdf.py", "tests/test_urdf.py"]
    (said,) = own_modules(["kinematics", "kinematics.compiled", "pybullet"], tracked)
    assert said.startswith("kinematics is in src/ of this repository: pip install -e . ")
    assert not [*own_modules(["kinematics"], ["kinematics/__init__.py"])], (
        "at the root, pytest finds it or says why not"
    )
