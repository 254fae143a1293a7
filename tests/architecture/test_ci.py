"""What continuous integration runs, in a repository whose Makefile notes what it was given: ours takes long."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from git_repositories import git, make_repository

SCRIPT = Path(__file__).parents[2] / ".ci" / "run"
# The interpreter of the environment tells which build of torch it has: what a variable says, where there is one.
MAKEFILE = """
ready:
	@mkdir -p .venv/bin
	@printf '#!/bin/sh\\necho "%s"\\n' "$${TORCH:-2.13.0+cu130}" >.venv/bin/python
	@chmod +x .venv/bin/python
setup: ready
test test-daily: ready
	@echo "$$(basename "$$PWD") $$(ls -A "$$HOME" | wc -l) $$(env | cut -d= -f1 | sort | tr '\\n' ' ')" >>TOLD
	@echo "SKIPPED [2] tests/process/test_sandbox.py:20: bubblewrap is not there: install it"
	@echo "FAILED tests/test_x.py::test_y - assert 1 == 2"
	@echo "12 passed, 2 skipped in 3.21s"
	@TESTS
test-slow:
	@test "$(PART)" = 2/4 -o "$(PART)" = 1/1
	@echo "34 passed in 45.67s"
test-pages:
	@echo "5 passed in 6.78s"
wild:
	@echo "| hello | yes |"
	@WILD
"""


def ran(folder: Path, tests: str = "true", wild: str = "true", **environment: str) -> tuple[int, str, list[str]]:
    """The exit code, the closing lines, and what `make test` told of each of its runs."""
    told = folder / "told"
    makefile = MAKEFILE.replace("TOLD", str(told)).replace("TESTS", tests).replace("WILD", wild)
    files = {"Makefile": makefile, ".ci/run": SCRIPT.read_text(), ".gitignore": ".venv/\n"}
    root = make_repository(folder / "somewhere", files)
    known = {name: os.environ[name] for name in ("PATH", "HOME")}
    surroundings = {**known, "TMPDIR": str(folder), **environment}
    done = subprocess.run(["bash", root / ".ci" / "run"], env=surroundings, capture_output=True, text=True)
    assert git(root, "status", "--porcelain") == "" and not list(folder.glob("tmp*")), done.stderr
    return done.returncode, done.stdout.rpartition("== What was run\n")[2], told.read_text().splitlines()


def test_a_stranger_and_the_caller_run_what_the_other_does_not(tmp_path: Path) -> None:
    code, closing, told = ran(tmp_path, TORCH="2.13.0+cpu", PIP_FIND_LINKS="/wheels")
    assert code == 0
    stranger, caller = (line.split() for line in told)
    assert stranger[:2] == ["devfix", "0"] and caller[0] == "devfix"
    given = {name for name in stranger[2:] if not name.startswith(("MAKE", "MFLAGS"))}
    assert given <= {"HOME", "PATH", "PWD", "OLDPWD", "SHLVL", "_"}, "make and the shell set the last four themselves"
    assert {"TORCH", "PIP_FIND_LINKS"} <= set(caller)
    assert closing.splitlines() == [
        "make test-slow PART=2/4, torch 2.13.0+cpu, in the caller's environment:",
        "34 passed in 45.67s",
        "make test, torch 2.13.0+cu130, with HOME and PATH alone:",
        "12 passed, 2 skipped in 3.21s",
        "  skipped [2] bubblewrap is not there: install it",
        "make test-pages, torch 2.13.0+cu130, with HOME and PATH alone:",
        "5 passed in 6.78s",
        "make wild, torch 2.13.0+cu130:",
        "| hello | yes |",
        "make test-daily, torch 2.13.0+cpu, in the caller's environment:",
        "12 passed, 2 skipped in 3.21s",
        "  skipped [2] bubblewrap is not there: install it",
    ]


def test_all_slow_tests_are_run_on_request(tmp_path: Path) -> None:
    code, closing, _ = ran(tmp_path, PART="1/1")
    assert code == 0
    assert closing.startswith("make test-slow PART=1/1, torch 2.13.0+cu130")


def test_the_same_build_is_not_tested_twice(tmp_path: Path) -> None:
    code, closing, told = ran(tmp_path)
    assert (code, len(told)) == (0, 1)
    assert "The caller's environment has the same build" in closing


def test_a_failure_beside_other_tests_is_one_of_the_whole(tmp_path: Path) -> None:
    code, closing, told = ran(tmp_path, wild="false", TORCH="2.13.0+cpu")
    assert (code, len(told)) == (1, 2)
    assert "FAILED: ended 2 " in closing and "| hello | yes |" in closing


@pytest.mark.parametrize("tests", ["false", 'test -n "$$TORCH"', 'test -z "$$TORCH"'])
def test_a_failure_of_either_is_one_of_the_whole(tmp_path: Path, tests: str) -> None:
    code, closing, told = ran(tmp_path, tests, TORCH="2.13.0+cpu")
    assert (code, len(told)) == (1, 2), "the second is run all the same"
    assert "FAILED: " in closing and closing.count("12 passed, 2 skipped in 3.21s") == 2
