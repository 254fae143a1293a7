"""Fixes that leave a failure are run in a fresh process too, at the end of the search."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_repositories import git
from verdict_programs import judged, rejected

pytestmark = pytest.mark.slow

TWO_FAILURES = """import sys
is_fresh = "torch" not in sys.modules
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
weight = torch.ones(3).to(device)
bias = torch.ones(3)
scale = torch.ones(3)
print((weight + bias).sum().item())
if is_fresh and device.type == "cuda":
    {otherwise}
print((weight * scale).sum().item())
"""
FIRST = ("bias = torch.ones(3)", "bias = torch.ones(3, device=device)")


@pytest.mark.parametrize(
    ("otherwise", "outcome", "is_kept"),
    [("pass", "partial", True), ("raise SystemExit('another end')", "unrepaired", False)],
)
def test_what_is_left_has_run_in_a_fresh_process(otherwise: str, outcome: str, is_kept: bool, tmp_path: Path) -> None:
    report = judged(tmp_path, FIRST, program=TWO_FAILURES.format(otherwise=otherwise), partial=True)
    assert (report.outcome, bool(report.branch)) == (outcome, is_kept)
    assert any("does not repeat: failed otherwise in a fresh process" in each for each in rejected(report)) != is_kept
    assert bool(git(tmp_path / "project", "branch", "--list", "devfix/*")) == is_kept
