"""What a repository has that can be lifted."""

from __future__ import annotations

import pytest

from devfix.discovery.test_files import is_test_file
from devfix.errors import UserError
from devfix.find.find import shares
from devfix.find.suites import Suite, SuiteKind, may_keep_tensors, suites

FILES = {
    "src/lib/one.py": b'"""\n>>> import torch\n"""\n',
    "src/lib/two.py": b"import torch\n",
    "src/lib/three.py": b'"""\n>>> 1 + 1\n2\n"""\n',
    "tests/test_one.py": b">>> import torch\n",
    "docs/conf.py": b">>> import torch\n",
    "examples/train.py": b"import torch\nprint(torch.ones(1))\n",
    "examples/parts.py": b"import torch\nX = 1\ndef f():\n    pass\n",
    "examples/plain.py": b"print(1)\n",
    "examples/old.py": b"import torch\nprint 1\n",
}


def test_tests_and_examples_are_found() -> None:
    found = suites(list(FILES), FILES.__getitem__, "")
    assert [each.name for each in found] == ["tests", "examples", "scripts"]
    assert found[1].arguments[-1] == "src/lib/one.py" and found[1].arguments.count("src/lib/two.py") == 0
    assert found[2].arguments == ("--lift-scripts", "examples/train.py")


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("tests/lib/data.py", True),
        ("src/lib/tests/helper.py", True),
        ("tests_fabric/run.py", True),
        ("src/lib/model_test.py", True),
        ("conftest.py", True),
        ("<doctest lib.one[0]>", True),
        ("examples/train.py", True),
        ("src/lib/examples/data.py", False),
        ("testing/base.py", True),
        ("src/lib/testing/graphs.py", False),
        ("src/latest/one.py", False),
        ("src/lib/contest.py", False),
    ],
)
def test_test_code_is_known_by_its_names(path: str, is_test: bool) -> None:
    assert is_test_file(path) is is_test


def test_a_folder_is_searched_alone() -> None:
    found = suites(list(FILES), FILES.__getitem__, "tests")
    assert [(each.name, each.arguments) for each in found] == [("tests", ("tests",))]


def test_what_is_not_selected_is_not_collected() -> None:
    found = suites(list(FILES), FILES.__getitem__, "", ["src/lib/o*", "tests/test_one.py::test_x[*"])
    assert [each.name for each in found] == ["tests", "examples"]
    assert found[0].arguments == ("tests/test_one.py",) and found[1].arguments[-1] == "src/lib/one.py"
    assert suites(list(FILES), FILES.__getitem__, "", ["*one*"])[0].arguments == ()


def test_nothing_to_lift_is_said() -> None:
    with pytest.raises(UserError, match="has no tests, no docstring examples and no scripts"):
        suites(["src/lib/two.py"], FILES.__getitem__, "")


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("import torch\nfrom lib import Net\nnet = Net(4)\nlogits = net(torch.ones(4))\n", True),
        ("import torch\nfrom lib import Net\nfirst, rest = Net.load(), 2\nout = first.encoder[0](rest)\n", True),
        ("import torch\nclass Net(torch.nn.Module):\n    pass\nnet = Net()\n", True),
        ("import torch\ndevice = torch.device('cuda')\nSIZES = tuple(range(3))\ndef run():\n    return 1\n", False),
        ("import torch\nfrom lib import Net\nnet = Net(4)\n", False),
    ],
)
def test_a_script_may_end_in_assignments(text: str, runs: bool) -> None:
    files = {"examples/readme.py": text.encode(), "tests/test_one.py": b""}
    kinds = [suite.kind for suite in suites(list(files), files.__getitem__, "")]
    assert (SuiteKind.scripts in kinds) is runs


def test_tests_get_most_of_the_time_and_others_what_they_leave() -> None:
    found = [Suite(kind, ()) for kind in SuiteKind]
    tests, examples, scripts = shares(found)
    assert tests == pytest.approx(0.6) and (examples, scripts) == pytest.approx((0.6, 0.9))
    assert list(shares(found[:1])) == [0.9]


def test_test_files_whose_names_pytest_does_not_know() -> None:
    """They are named to pytest, which collects any file that is; not where others are named as it expects."""
    files = {
        "lib/one.py": b"import torch\n",
        "tests/one_tests.py": b"import unittest\nclass TestOne(unittest.TestCase):\n    pass\n",
        "tests/two.py": b"def test_two():\n    pass\n",
        "tests/parts.py": b"import torch\nX = 1\n",
    }
    (found,) = suites(list(files), files.__getitem__, "")
    assert (found.kind, found.arguments) == (SuiteKind.tests, ("tests/one_tests.py", "tests/two.py"))
    usual = {**files, "tests/test_three.py": b""}
    assert [each.arguments for each in suites(list(usual), usual.__getitem__, "")] == [()]


@pytest.mark.parametrize(
    ("text", "keeps"),
    [
        ("_TABLES = {}\n", True),
        ("_tables: dict[int, torch.Tensor] = weakref.WeakValueDictionary()\n", True),
        ("def table(x, known=[]):\n    pass\n", True),
        ("try:\n    return table.known\nexcept AttributeError:\n    pass\n", True),
        ("if Table.known is None:\n    Table.known = torch.ones(3)\n", True),
        ("def table(x):\n    found = {}\n    return list(x)\n", False),
    ],
)
def test_what_a_process_may_keep_of_one_test_for_the_next(text: str, keeps: bool) -> None:
    files = {"library.py": f"import torch\n{text}".encode(), "tests/test_it.py": b"import torch\nKNOWN = {}\n"}
    assert may_keep_tensors(sorted(files), files.__getitem__) == keeps
