"""`devfix find`: a repository with bugs that only a GPU shows, and none that its tests show on the CPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from git_repositories import git, make_repository, write
from json_schemas import closed

from devfix.report.render.machine_readable.json import find_schema

LIBRARY = '''
import torch

def shifted(x):
    offset = torch.ones(len(x))
    return x + offset

def current(x):
    return x + torch.ones(len(x), device="cuda" if x.is_cuda else "cpu")

def counts(x):
    found = torch.zeros(2)
    found[0] = len(x)
    return found

def doubled(x):
    """Double.

    >>> import torch
    >>> doubled(torch.ones(1)), tripled(torch.ones(1))
    (tensor([2.]), tensor([3.]))
    """
    return 2 * x

def tripled(x):
    """Triple.

    >>> import torch
    >>> tripled(torch.ones(1))
    tensor([3.])
    """
    return x + 2 * torch.ones(1)[0:1]

def halved(x):
    return x * torch.full((len(x),), 0.5)
'''

TESTS = """
import pytest, torch
from library import counts, current, doubled, halved, shifted

@pytest.mark.parametrize("size", [1, 2, 3])
def test_shifted(size):
    assert shifted(torch.ones(size)).sum() == 2 * size

def test_current():
    assert current(torch.ones(2)).sum() == 4

def test_counts():
    assert torch.equal(counts(torch.ones(3)), torch.tensor([3.0, 0.0]))

def test_doubled():
    assert doubled(torch.ones(2)).sum() == 4

def test_fails_everywhere():
    assert False

def test_is_skipped():
    pytest.skip("no reason")

@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("made", [halved, doubled])
def test_on_a_gpu(made):
    made(torch.ones(2, device="cuda"))
"""


def find(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "devfix", "find", str(root), "--python", sys.executable, *arguments],
        capture_output=True,
        text=True,
    )


def repository(folder: Path, **files: str) -> Path:
    named = {name.replace("__", "/") + ".py": text for name, text in files.items()}
    return make_repository(folder / "project", {"pytest.ini": "[pytest]\npythonpath = .\n", **named})


@pytest.mark.slow
def test_a_repository_is_searched(tmp_path: Path) -> None:
    root = repository(tmp_path, library=LIBRARY, tests__test_library=TESTS, tests__test_lacks="import nowhere_to_be\n")
    before = git(root, "status", "--porcelain=v1")
    done = find(root, "--format", "json")
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    jsonschema.validate(told, closed(find_schema()))
    assert (told["tests"], told["passed_cpu"], told["skipped"], told["missing"]) == (9, 8, 3, ["nowhere_to_be"])
    assert told["failed_cpu"] == ["tests/test_library.py::test_fails_everywhere"]
    found = {(each["kind"], each["line"]): each for each in told["findings"]}
    assert set(found) == {("raises", 5), ("raises", 9), ("raises", 32), ("raises", 35), ("result-on-host", 12)}
    assert found["raises", 35]["tests"] == ["tests/test_library.py::test_on_a_gpu[halved]"]
    assert told["passed_lifted"] == 3 and not told["failed_lifted"]
    assert len(found["raises", 5]["tests"]) == 3 and found["raises", 5]["devices"] == ["cuda:0", "cuda:1"]
    assert found["raises", 5]["rule"] == "placement/factory-without-device"
    assert found["raises", 5]["confidence"] == "high"
    assert found["raises", 9]["devices"] == ["cuda:1"]
    assert all(each["confirmed"] for each in told["findings"])
    assert git(root, "status", "--porcelain=v1") == before

    baseline = tmp_path / "known.json"
    baseline.write_text(done.stdout)
    write(root, {"library.py": "\n\n" + LIBRARY})
    git(root, "commit", "--all", "--quiet", "--message=lower")
    again = find(root, "--baseline", str(baseline), "--select", "tests/test_library.py::test_shifted*")
    assert again.returncode == 0 and "no new findings, 1 known: 3 tests" in again.stdout, again.stdout + again.stderr


NESTED = {"lib.py": LIBRARY, "tests/test_lib.py": TESTS.replace("from library", "from lib")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "path", "node"),
    [
        ({"setup.py": "", "tests/pytest.ini": "[pytest]\npythonpath = ..\n"}, ".", "tests/test_lib.py::test_current"),
        ({"pytest.ini": "[pytest]\npythonpath = part\n"}, "part", "tests/test_lib.py::test_current"),
    ],
    ids=["of the tests alone", "above the searched folder"],
)
def test_a_configuration_elsewhere_than_in_the_searched_folder(
    tmp_path: Path, files: dict[str, str], path: str, node: str
) -> None:
    root = make_repository(tmp_path / "project", {**files, **{f"{path}/{name}": NESTED[name] for name in NESTED}})
    done = find(root / path, "--select", node, "--format", "json")
    assert done.returncode == 1, done.stderr
    (finding,) = json.loads(done.stdout)["findings"]
    tests = [node if path == "." else f"{path}/{node}"]
    assert (finding["line"], finding["confirmed"], finding["tests"]) == (9, True, tests)


SUBTESTS = """
import unittest, torch
from library import halved, shifted

class Cases(unittest.TestCase):
    def test_all(self):
        x = torch.ones(3)
        for function in (shifted, halved):
            with self.subTest(function=function):
                self.assertEqual(function(x).shape, x.shape)
"""


@pytest.mark.slow
def test_what_unittest_catches_of_a_subtest_fails_the_test(tmp_path: Path) -> None:
    root = repository(tmp_path, library=LIBRARY, tests__test_cases=SUBTESTS)
    done = find(root, "--select", "tests/test_cases.py", "--format", "json")
    assert {each["kind"] for each in json.loads(done.stdout)["findings"]} == {"raises"}, done.stdout


@pytest.mark.slow
def test_a_suite_that_cannot_run_says_why(tmp_path: Path) -> None:
    broken, lacking = "raise OSError('no such library: libx.so')\n", "import nowhere_to_be\n"
    failing = "def test_fails():\n    assert not 'as on the CPU'\n"
    names = {"tests__test_broken": broken, "tests__test_a": lacking, "tests__test_b": lacking, "tests__test_c": failing}
    told = json.loads(find(repository(tmp_path, **names), "--format", "json").stdout)
    assert told["missing"] == ["nowhere_to_be"] and set(told["seconds"]) == {"cpu", "total"}
    assert told["notes"] == [
        "1 file of the tests could not be collected: OSError: no such library: libx.so",
        "none of the tests passes on the CPU: AssertionError: assert not 'as on the CPU'",
    ]


@pytest.mark.slow
def test_a_repository_without_tests_says_what_to_run(tmp_path: Path) -> None:
    done = find(repository(tmp_path, main="import torch\n"))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("devfix: this repository has no tests, no docstring examples")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--budget", "soon"], "--budget soon: give a time above 0, for example 90s, 10m or 1h"),
        (["--timeout", "0"], "--timeout 0: give a time above 0"),
        (["--baseline", "nowhere.json"], "--baseline nowhere.json: No such file or directory"),
        (["--baseline", __file__], "no JSON"),
    ],
)
def test_wrong_usage_is_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = find(tmp_path, *arguments)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and said in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere"),
        (["--budget", "soon"], "--budget soon: give a time above 0"),
        (["-n", "0"], "Invalid value for '-n'"),
        (["--silent", "all"], "Invalid value for '--silent'"),
        (["--unknown"], "No such option"),
        ([], "no tests, no docstring examples"),
    ],
)
def test_wrong_usage_with_json_is_a_record_of_a_search(tmp_path: Path, arguments: list[str], said: str) -> None:
    root = repository(tmp_path, main="import torch\n")
    words = [sys.executable, "-m", "devfix", "find", "--python", sys.executable, "--format", "json", *arguments]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True)
    told = json.loads(done.stdout)
    jsonschema.validate(told, closed(find_schema()))
    assert (done.returncode, told["schema"], told["findings"]) == (2, "devfix-find/1", [])
    assert said in told["error"]["message"] and done.stderr.splitlines()[-1].startswith("devfix: ")
    assert said in done.stderr.splitlines()[-1]
    found = tmp_path / "find.json"
    found.write_text(done.stdout)
    again = find(root, "--baseline", str(found))
    assert again.returncode == 2 and "a search that failed" in again.stderr
    shown = subprocess.run([sys.executable, "-m", "devfix", "show", str(found)], capture_output=True, text=True)
    assert shown.returncode == 0 and shown.stdout.startswith("Error: ") and said in " ".join(shown.stdout.split())
