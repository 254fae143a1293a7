"""The regression test that comes with each fix: real repositories, repaired by the real engine."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from git_repositories import git, make_repository
from suite_runs import NAMED

import devfix
from devfix.model import RegressionTest, Report

NEIGHBOUR = "def test_nothing() -> None:\n    assert True\n"
LIBRARY = """
import torch

def shifted(x, by=1, *, weights=None):
    steps = torch.arange(x.shape[-1])
    return x * by + steps
"""
CALLER = """
import torch
from ops import shifted

device = "cuda" if torch.cuda.is_available() else "cpu"
print(shifted(torch.zeros(3, 7, device=device), 2).sum().item())
"""
SCRIPT = """
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(2, device=device)
print((x + torch.arange(2)).sum().item())
"""
WORLDS = {"cpu", "cuda x1", "cuda x2", "cuda x2, current 1"}


def repaired(folder: Path, files: dict[str, str], run: str = "python main.py", **asked: object) -> Report:
    root = make_repository(folder / "program", files)
    report = devfix.repair(root, run=run, world="simulated", **asked)  # type: ignore[arg-type]
    assert report.outcome == "repaired", (report.notes, report.last_run)
    return report


def guard_of(report: Report, index: int = 0) -> RegressionTest:
    guard = report.repairs[index].regression_test
    assert guard is not None, report.repairs[index].no_test_reason
    # A test that starts the program runs once: the program itself was run in every world to verify the fix.
    assert set(guard.worlds) == ({"cpu"} if guard.exercises.startswith("runs ") else WORLDS)
    assert set(guard.worlds.values()) == {("failed", "clean")}
    return guard


def plain_pytest(root: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run pytest as somebody does who took the branch: without any option of ours but the plugin's."""
    command = [str(Path(sys.executable).with_name("pytest")), *NAMED, "-p", "no:cacheprovider", "-q", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | settings
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_a_call_of_the_fixed_function_fails_without_the_fix_and_passes_with_it(tmp_path: Path) -> None:
    report = repaired(tmp_path, {"ops.py": LIBRARY, "main.py": CALLER, "tests/test_ops.py": NEIGHBOUR})
    guard, root = guard_of(report), Path(report.root)
    assert guard.path == "tests/test_devices_ops.py"
    assert guard.exercises == "calls `shifted`"
    assert "shifted(x, 2)" in guard.text
    assert "-> None:" in guard.text  # as its neighbour writes it
    assert len(guard.text.splitlines()) <= 40

    # Its own commit after the fix's, and nothing else in it.
    fix, test = report.commits
    assert git(root, "show", "--format=", "--name-status", test) == f"A\t{guard.path}"
    assert git(root, "rev-parse", f"{test}^") == fix
    assert git(root, "status", "--short") == ""

    git(root, "checkout", "--quiet", report.branch)
    assert "1 passed" in plain_pytest(root, guard.path).stdout
    assert "1 passed" in plain_pytest(root, "--gpus", "2", guard.path).stdout
    git(root, "checkout", "--quiet", fix + "^", "--", "ops.py")
    undone = plain_pytest(root, guard.path)
    assert "Expected all tensors to be on the same device" in undone.stdout
    assert undone.returncode == 1

    # Where devfix is not installed it is skipped, also where marks must be known.
    (root / "hidden").mkdir()
    (root / "hidden" / "devfix.py").write_text("raise ModuleNotFoundError('no devfix here', name='devfix')\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:devfix-gpus",
        "-p",
        "no:devfix-rules",
        "--strict-markers",
        "-q",
    ]
    settings = {**os.environ, "PYTHONPATH": str(root / "hidden")}
    hidden = subprocess.run([*command, guard.path], cwd=root, env=settings, capture_output=True, text=True)
    assert "1 skipped" in hidden.stdout, hidden.stdout + hidden.stderr


@pytest.mark.slow
def test_without_pytest_tests_and_with_no_test_there_is_none(tmp_path: Path) -> None:
    bare = repaired(tmp_path, {"main.py": SCRIPT})
    assert (bare.repairs[0].regression_test, bare.repairs[0].no_test_reason, len(bare.commits)) == (None, "", 1)
    root = make_repository(tmp_path / "other", {"main.py": SCRIPT, "tests/test_x.py": NEIGHBOUR})
    report = devfix.repair(root, run="python main.py", world="simulated", test=False)
    assert (report.repairs[0].regression_test, report.repairs[0].no_test_reason, len(report.commits)) == (None, "", 1)


@pytest.mark.exhaustive
def test_a_fault_of_the_script_itself_is_guarded_by_running_it(tmp_path: Path) -> None:
    report = repaired(tmp_path, {"main.py": SCRIPT, "tests/test_x.py": NEIGHBOUR})
    guard, root = guard_of(report), Path(report.root)
    assert guard.exercises == "runs `python main.py`"
    git(root, "checkout", "--quiet", report.branch)
    assert "1 passed" in plain_pytest(root, guard.path).stdout
    git(root, "checkout", "--quiet", "main", "--", "main.py")
    assert "1 failed" in plain_pytest(root, guard.path).stdout


@pytest.mark.slow
def test_a_program_that_does_not_run_in_every_world_is_no_test(tmp_path: Path) -> None:
    main = SCRIPT + 'if torch.cuda.device_count() > 1:\n    raise SystemExit("one GPU, please")\n'
    report = repaired(tmp_path, {"main.py": main, "tests/test_x.py": NEIGHBOUR})
    assert report.repairs[0].fix is not None and report.repairs[0].regression_test is None
    assert "on cuda x2" in report.repairs[0].no_test_reason and "with the fix" in report.repairs[0].no_test_reason


@pytest.mark.exhaustive
def test_a_method_is_called_on_a_module_made_as_the_program_made_it(tmp_path: Path) -> None:
    model = """
    from dataclasses import dataclass
    import torch
    from torch import nn

    @dataclass
    class Config:
        width: int = 16
        heads: int = 2

    class Attention(nn.Module):
        def __init__(self, config, dropout=0.0):
            super().__init__()
            self.inner = nn.Linear(config.width, config.width)
        def forward(self, x):
            return self.scores(x, mask=None)
        def scores(self, x, mask):
            return self.inner(x) + torch.arange(x.shape[1]).view(1, -1, 1)

    class Model(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.layers = nn.Sequential(*[Attention(config, dropout=0.1) for _ in range(2)])
        def forward(self, x):
            return self.layers(x)
    """.replace("\n    ", "\n")
    main = """
    import torch
    from package.model import Config, Model
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Model(Config(width=8)).to(device).eval()
    print(model(torch.ones(3, 5, 8, device=device)).shape)
    """.replace("\n    ", "\n")
    files = {"package/__init__.py": "", "package/model.py": model, "main.py": main}
    files |= {"tests/test_x.py": NEIGHBOUR, "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n"}
    report = repaired(tmp_path, files)
    guard = guard_of(report)
    assert guard.exercises == "calls `Attention.scores`"
    assert 'Attention(config=Config(width=8), dropout=0.1).to("cuda:0").eval()' in guard.text
    assert "syspath_prepend" not in guard.text  # pytest's own configuration finds the package


@pytest.mark.exhaustive
def test_each_fix_of_a_chain_has_a_test_that_fails_before_it(tmp_path: Path) -> None:
    second = LIBRARY.replace("shifted", "masked").replace("x * by + steps", "x * (steps > by)")
    main = CALLER.replace("import shifted", "import shifted\nfrom masks import masked")
    main += "print(masked(torch.ones(2, 7, device=device)).sum().item())\n"
    files = {"ops.py": LIBRARY, "masks.py": second, "main.py": main, "tests/test_x.py": NEIGHBOUR}
    report = repaired(tmp_path, files)
    first, other = guard_of(report), guard_of(report, 1)
    assert (first.path, other.path) == ("tests/test_devices_ops.py", "tests/test_devices_masks.py")
    subjects = git(Path(report.root), "log", "--reverse", "--format=%s", f"main..{report.branch}").splitlines()
    assert [subject.startswith("Test: ") for subject in subjects] == [False, True, False, True]


@pytest.mark.exhaustive
def test_a_program_that_meets_both_faults_guards_both_fixes_and_stands_behind_the_last(tmp_path: Path) -> None:
    main = SCRIPT.replace("print(", "z = x * torch.tensor([1.0, 2.0])\nprint(")
    report = repaired(tmp_path, {"main.py": main, "tests/test_x.py": NEIGHBOUR})
    guard = guard_of(report)
    assert (guard.exercises, guard.passes_after_fix) == ("runs `python main.py`", 1)
    assert report.repairs[1].no_test_reason.startswith(f"{guard.path}, the test of a fix before")
    subjects = git(Path(report.root), "log", "--reverse", "--format=%s", f"main..{report.branch}").splitlines()
    assert [subject.startswith("Test: ") for subject in subjects] == [False, False, True]


@pytest.mark.exhaustive
def test_a_test_that_needs_two_gpus_asks_for_both(tmp_path: Path) -> None:
    model = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)
    def forward(self, x):
        hidden = self.first(x)
        return self.second(hidden.to("cuda:1")) + x
"""
    main = """
import torch
from model import Net

net = Net(6)
if torch.cuda.device_count() > 1:
    net.first.to("cuda:0")
    net.second.to("cuda:1")
    print(net(torch.ones(5, 6, device="cuda:0")).shape)
"""
    guard = guard_of(repaired(tmp_path, {"model.py": model, "main.py": main, "tests/test_x.py": NEIGHBOUR}, gpus=2))
    assert "@pytest.mark.gpus(2)" in guard.text
    assert 'net.second.to("cuda:1")' in guard.text


@pytest.mark.exhaustive
def test_what_a_suite_finds_is_guarded_by_the_suite(tmp_path: Path) -> None:
    suite = "import torch\nfrom ops import shifted\n\ndef test_shifted():\n"
    suite += "    device = 'cuda' if torch.cuda.is_available() else 'cpu'\n    shifted(torch.zeros(3, device=device))\n"
    files = {"ops.py": LIBRARY, "test_ops.py": suite}
    report = repaired(tmp_path, files, "pytest test_ops.py")
    repair = report.repairs[0]
    assert repair.regression_test is None
    assert repair.no_test_reason == "an existing test covers it: pytest --gpus 1 test_ops.py::test_shifted"
    assert len(report.commits) == 1


@pytest.mark.exhaustive
def test_a_suite_that_is_told_its_device_gets_a_test_that_is_not(tmp_path: Path) -> None:
    suite = "import os, torch\nfrom ops import shifted\n\ndef test_shifted():\n"
    suite += "    shifted(torch.zeros(3, device=os.environ.get('DEVICE', 'cpu')))\n"
    files = {"ops.py": LIBRARY, "test_ops.py": suite}
    report = repaired(tmp_path, files, "DEVICE=cuda pytest test_ops.py")
    assert guard_of(report).exercises == "calls `shifted`"


@pytest.mark.exhaustive
def test_a_suite_whose_option_chooses_the_device_is_told_with_it(tmp_path: Path) -> None:
    suite = "import torch\nfrom ops import shifted\n\ndef test_shifted(device):\n"
    suite += "    class Own(torch.Tensor):\n        pass\n\n    values = torch.zeros(3).as_subclass(Own)\n"
    suite += "    shifted(values.to(device))\n"
    conftest = "def pytest_addoption(parser):\n    parser.addoption('--device', default='cpu')\n\n"
    conftest += "def pytest_generate_tests(metafunc):\n"
    conftest += "    metafunc.parametrize('device', [metafunc.config.getoption('--device')])\n"
    files = {"ops.py": LIBRARY, "tests/test_ops.py": suite, "conftest.py": conftest}
    repair = repaired(tmp_path, files, "pytest tests --device cuda").repairs[0]
    how = "pytest --gpus 1 --device cuda tests/test_ops.py::test_shifted[cuda]"
    assert repair.regression_test is None
    assert shlex.split(repair.no_test_reason.partition(": ")[2]) == shlex.split(how)


@pytest.mark.exhaustive
def test_what_cannot_be_made_to_fail_is_not_written_and_said(tmp_path: Path) -> None:
    main = SCRIPT.replace("import torch", "import sys\nimport torch\nassert sys.argv[1]", 1)
    files = {"main.py": main, "tests/test_x.py": NEIGHBOUR}
    report = repaired(tmp_path, files, f"python main.py {tmp_path}")
    repair = report.repairs[0]
    assert repair.regression_test is None
    assert repair.no_test_reason
    assert len(report.commits) == 1
    assert git(Path(report.root), "diff", "--stat", f"main...{report.branch}").count("|") == 1


@pytest.mark.exhaustive
def test_a_dry_run_shows_the_test_and_leaves_nothing(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "p", {"ops.py": LIBRARY, "main.py": CALLER, "tests/test_ops.py": NEIGHBOUR})
    command = [sys.executable, "-m", "devfix", "repair", str(root), "--world", "simulated", "--run", "python main.py"]
    done = subprocess.run([*command, "--dry-run"], capture_output=True, text=True)
    assert "Regression test tests/test_devices_ops.py: calls `shifted`; verified to fail" in done.stdout
    assert "+def test_shifted_on_a_gpu" in done.stdout
    assert git(root, "branch", "--list") == "* main"
    quiet = subprocess.run([*command, "--dry-run", "--no-test"], capture_output=True, text=True)
    assert "test_devices" not in quiet.stdout
