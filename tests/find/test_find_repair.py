"""`devfix find --repair`: the fixes of several causes, on one branch or on one each."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_programs import repair
from git_repositories import git
from searches import FINDS, find, searched_repository
from wheels import without_devfix

from devfix.cli.finding.find_repair import RepairPlan, repair_causes
from devfix.cli.repairing.taking import Branches
from devfix.find import FindOptions
from devfix.find import find as search

pytestmark = pytest.mark.slow

OWN = ("git", "libcst", "msgspec", "typer")  # what devfix needs, and neither torch nor pytest


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


def test_what_the_budget_has_no_time_for_is_told(tmp_path: Path) -> None:
    root = searched_repository(tmp_path, a_shifted=FINDS, b_scaled=FINDS.replace("shifted", "scaled"))
    report = search(root, FindOptions(python=sys.executable, silent=frozenset()), lambda *_: None, lambda _: None)
    plan = RepairPlan(Branches.one, sys.executable, (), until=0.0)
    repairs = repair_causes(report, plan, lambda _: None)
    assert len(report.causes) == 2 and not repairs.fixes and not repairs.reports
    places = "library.py:5, library.py:8"
    said = f"findings that were not repaired before the budget was over: 2 of 2 ({places}); --budget gives more"
    assert list(repairs.notes) == [said]


def test_an_interpreter_without_devfix(tmp_path: Path) -> None:
    """That of most projects: devfix is installed elsewhere, and gives pytest its plugin in the repairs as well."""
    python = without_devfix(tmp_path / "environment", OWN)
    root = searched_repository(tmp_path, a_shifted=FINDS)
    (found,) = find(root, "--repair", "--no-silent", "--python", str(python))["findings"]
    assert found["fix"]["verdict"] == "verified" and "device=x.device" in found["fix"]["diff"], found["fix"]
    assert found["fix"]["reason"] == ""


def test_why_a_finding_is_not_repaired(tmp_path: Path) -> None:
    code = "    exec('x + torch.ones(2)')"
    root = searched_repository(tmp_path, a_shifted=FINDS)
    library = root / "library.py"
    library.write_text(library.read_text().replace("    return x + torch.ones(len(x))", code))
    git(root, "commit", "--quiet", "--all", "--message", "Run text")
    (found,) = find(root, "--repair", "--no-silent")["findings"]
    assert not found["fix"]["branch"] and found["fix"]["reason"].startswith(("no rule proposed a fix", "1 candidate"))


def test_a_lifted_test_is_repaired_in_what_it_calls(tmp_path: Path) -> None:
    """Its own tensors stand for what users pass: the test is not told to pass a device on."""
    test = FINDS.replace("shifted(torch.ones(2))", "x = torch.ones(2)\n    shifted(x)")
    root = searched_repository(tmp_path, a_shifted=test)
    library = "import torch\n\ndef shifted(x, device=None):\n    return x + torch.ones(len(x), device=device)\n"
    (root / "library.py").write_text(library)
    git(root, "commit", "--quiet", "--all", "--message", "Take a device")
    done = repair(root, "--no-test", "--dry-run", "--format", "json", run="pytest --lift tests/test_a_shifted.py")
    (fix,) = json.loads(done.stdout)["fixes"]
    assert [each["path"] for each in fix["edits"]] == ["library.py"]


def _searched_with_numpy(tmp_path: Path, returned: str) -> Path:
    """Return a repository whose function computes with NumPy, and then returns an expression."""
    test = FINDS.replace("shifted(torch.ones(2))", "assert shifted(torch.ones(2)).sum() == 4")
    root = searched_repository(tmp_path, a_shifted=test)
    library = f"import torch\n\ndef shifted(x):\n    values = x.numpy() + 1\n    return {returned}\n"
    (root / "library.py").write_text(library)
    git(root, "commit", "--quiet", "--all", "--message", "Compute with NumPy")
    return root


def test_what_the_fix_leaves_on_the_host_is_repaired_with_it(tmp_path: Path) -> None:
    root = _searched_with_numpy(tmp_path, "torch.tensor(values)")
    (found,) = find(root, "--repair")["findings"]
    assert "x.cpu().numpy()" in found["fix"]["diff"] and "torch.tensor(values, device=x.device)" in found["fix"]["diff"]
    (found,) = find(root, "--repair", "--no-silent")["findings"]
    assert "x.cpu().numpy()" in found["fix"]["diff"] and "x.device" not in found["fix"]["diff"]


def test_a_fix_is_kept_where_what_its_function_leaves_on_the_host_has_none(tmp_path: Path) -> None:
    root = _searched_with_numpy(tmp_path, "eval('torch.tensor(values)')")
    (found,) = find(root, "--repair")["findings"]
    assert found["fix"]["verdict"] == "verified" and "x.cpu().numpy()" in found["fix"]["diff"], found["fix"]
