"""`devfix find --repair`: the fixes of several causes, on one branch or on one each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from git_repositories import git
from searches import FINDS, find, searched_repository

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("branches", ["one", "each"])
def test_each_cause_has_its_commits(tmp_path: Path, branches: str) -> None:
    root = searched_repository(tmp_path, a_shifted=FINDS, b_scaled=FINDS.replace("shifted", "scaled"))
    head = git(root, "rev-parse", "HEAD")
    folder = tmp_path / "found"
    told = find(root, "--repair", "--branches", branches, "--no-silent", "--output", str(folder))
    fixes = [each["fix"] for each in told["findings"]]
    assert [each["line"] for each in told["findings"]] == [5, 8]
    assert [fix["verdict"] for fix in fixes] == ["verified", "verified"]
    assert all("device=x.device" in fix["diff"] for fix in fixes)
    names = {fix["branch"] for fix in fixes}
    assert len(names) == (1 if branches == "one" else 2)
    listed = git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads/devfix/").split()
    assert set(listed) == names and (branches == "each" or names == {"devfix/find"})
    for fix in fixes:
        commits = git(root, "rev-list", f"{head}..{fix['branch']}").split()
        assert fix["commit"] in commits
        fixed = git(root, "show", f"{fix['branch']}:library.py").count("device=x.device")
        assert fixed == (2 if branches == "one" else 1)
    assert git(root, "rev-parse", "HEAD") == head and git(root, "status", "--porcelain=v1") == ""
    assert json.loads((folder / "find.json").read_text()) == told
    reports = [json.loads((folder / str(number) / "report.json").read_text()) for number in (1, 2)]
    assert [report["outcome"] for report in reports] == ["repaired", "repaired"]
