"""Programs that are run in forks of the warm process: modules, and sessions of pytest among them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_programs import repair
from git_repositories import make_repository

TELLS = """
import pathlib, sys

with pathlib.Path({path!r}).open("a") as file:
    print("torch" in sys.modules, file=file)
"""
FAILS = """
import torch

class TestIt:
    def test_it(self):
        x = torch.ones(2, device="cuda" if torch.cuda.is_available() else "cpu")
        x + torch.ones(2)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "main", "tells"),
    [
        ("python -m pytest test_it.py", "test_it.py", "conftest.py"),
        ("python -m package.main", "package/main.py", "package/__init__.py"),
    ],
)
def test_most_runs_of_a_module_find_torch_imported(tmp_path: Path, command: str, main: str, tells: str) -> None:
    told = tmp_path / "told"
    ends = "" if main.startswith("test") else "\nTestIt().test_it()\n"
    root = make_repository(tmp_path / "program", {main: FAILS + ends, tells: TELLS.format(path=str(told))})
    done = repair(root, "--world", "simulated", "--format", "json", "--python", sys.executable, run=command)
    assert json.loads(done.stdout)["outcome"] == "repaired", done.stderr
    imported = told.read_text().split()
    assert imported.count("True") > imported.count("False") >= 1, "the first run and the last are those of a user"


@pytest.mark.slow
def test_packages_are_imported_once_for_all_warm_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told, packages = tmp_path / "told", tmp_path / "packages"
    (packages / "plots").mkdir(parents=True)
    parts = [f"part{number}" for number in range(12)]
    (packages / "plots" / "__init__.py").write_text(
        f"from . import {', '.join(parts)}\nwith open({str(told)!r}, 'a') as file:\n    print('imported', file=file)\n"
    )
    for part in parts:
        (packages / "plots" / f"{part}.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(packages))
    text = (
        FAILS
        + f"\nimport plots\nwith open({str(told)!r}, 'a') as file:\n    print('run', file=file)\nTestIt().test_it()\n"
    )
    root = make_repository(tmp_path / "program", {"main.py": text})
    done = repair(root, "--format", "json", "--python", sys.executable)
    assert json.loads(done.stdout)["outcome"] == "repaired", done.stderr
    words = told.read_text().split()
    # By the first run, the run without a GPU beside it, the branch, and the candidate's run in a fresh process.
    assert words.count("imported") <= 4 < words.count("run")


def test_nothing_that_reads_code_is_imported_before_the_program_runs() -> None:
    """It takes 0.15 s, in which the program runs already."""
    code = "import devfix.pipeline.repair, sys; print([name for name in ('libcst', 'jinja2') if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
