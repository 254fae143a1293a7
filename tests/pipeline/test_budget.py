"""The time for a whole repair: what runs when it is over is ended, and nothing was written."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_repositories import git, make_repository

import devfix
from devfix.errors import BudgetSpentError

# Fails on a GPU, and goes on for an hour with any fix.
SLOW_WHEN_REPAIRED = """
import time
import torch

x = torch.ones(3, device="cuda" if torch.cuda.is_available() else "cpu")
y = x + torch.arange(3.0)[:, None]
time.sleep(3600)
"""

# Fails on a GPU, and goes on for an hour in a test.
SLOW_IN_TESTS = """
import sys
import time
import torch

def total(x):
    if "pytest" in sys.modules:
        time.sleep(3600)
    return float((x + torch.arange(3.0)).sum())

if __name__ == "__main__":
    print(total(torch.ones(3, device="cuda" if torch.cuda.is_available() else "cpu")))
"""


@pytest.mark.slow
def test_a_verified_fix_is_kept_where_the_budget_ends_with_its_regression_test(tmp_path: Path) -> None:
    files = {"main.py": SLOW_IN_TESTS, "tests/test_nothing.py": "def test_nothing() -> None:\n    pass\n"}
    root = make_repository(tmp_path / "project", files)
    report = devfix.repair(root, run="python main.py", world="simulated", budget=60.0)
    assert report.outcome == "repaired" and report.branch.startswith("devfix/")
    assert [each.no_test_reason for each in report.repairs] == ["the budget was over before a test was verified"]


@pytest.mark.slow
def test_a_budget_ends_the_repair_that_goes_on(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project", {"main.py": SLOW_WHEN_REPAIRED})
    with pytest.raises(BudgetSpentError):
        devfix.repair(root, run="python main.py", world="simulated", budget=20.0)
    assert git(root, "for-each-ref", "--format=%(refname)", "refs/heads/devfix/") == ""
    assert git(root, "status", "--porcelain=v1") == ""


def test_without_time_nothing_runs(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    root = make_repository(tmp_path / "project", {"main.py": f"open({str(ran)!r}, 'w')\n"})
    with pytest.raises(BudgetSpentError):
        devfix.repair(root, run="python main.py", world="simulated", budget=0.0)
    assert not ran.exists()
