"""Commits and branches: all that devfix ever writes into the user's repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from git_repositories import fingerprint, git, make_repository, write

from devfix.errors import UserError
from devfix.workspace import Repository

WRONG = {"taken": "exists", "taken/x": "beside", "devfix": "beside", "a..b": "allows", "-x": "allows"}


@pytest.fixture
def simple(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project", {"train.py": "x = 1\n", "lib/a.py": "y = 2\n"})


def test_published_branch_has_the_commits_and_nothing_else_changes(simple: Path) -> None:
    (simple / "train.py").chmod(0o755)
    git(simple, "commit", "--quiet", "--all", "--message=mode")
    write(simple, {"train.py": "x = 'dirty'\n"})
    before = fingerprint(simple)
    with Repository.open(simple).worktrees(1) as worktrees:
        commits = (
            worktrees.commit({"train.py": b"x = 3\n"}, "First\n\nbody"),
            worktrees.commit({"new.py": b""}, "Second"),
        )
        assert worktrees.commits == commits
        assert fingerprint(simple) == before
        assert worktrees.publish("devfix/fix") == "devfix/fix"
    after = fingerprint(simple)
    added = {name for name in after if name not in before}
    assert {name: after[name] for name in before} == before
    assert all(name.startswith((".git/objects/", ".git/refs/heads/devfix", ".git/logs/")) for name in added)
    assert git(simple, "log", "--format=%H %s", "main..devfix/fix").split("\n") == [
        f"{commits[1]} Second",
        f"{commits[0]} First",
    ]
    assert git(simple, "show", "devfix/fix:train.py") == "x = 3"
    assert git(simple, "ls-tree", "devfix/fix", "train.py").startswith("100755")
    assert git(simple, "fsck", "--strict") == ""


def test_a_name_that_is_taken(simple: Path) -> None:
    for name in ("devfix/fix", "devfix/fix-2", "taken"):
        git(simple, "branch", name)
    repository = Repository.open(simple)
    refs = git(simple, "for-each-ref")
    with repository.worktrees(1) as worktrees:
        worktrees.commit({"train.py": b"x = 3\n"}, "Fix")
        with pytest.raises(UserError, match="exists"):
            worktrees.publish("devfix/fix", exactly=True)
        assert git(simple, "for-each-ref") == refs
        assert worktrees.publish("devfix/fix") == "devfix/fix-3"
    for name, reason in {
        "taken": "exists",
        "taken/x": "beside",
        "devfix": "beside",
        "a..b": "allows",
        "-x": "allows",
    }.items():
        with pytest.raises(UserError, match=reason):
            repository.check_branch(name)
    repository.check_branch("free/name")


def test_who_signs(simple: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for expected in ("devfix <devfix@localhost>", "Grace <grace@example.org>"):
        with Repository.open(simple).worktrees(1) as worktrees:
            worktrees.commit({"train.py": b"x = 3\n"}, "Fix")
            branch = worktrees.publish("devfix/fix")
        assert git(simple, "log", "-1", "--format=%an <%ae>", branch) == expected
        assert git(simple, "log", "-1", "--format=%cn <%ce>", branch) == expected
        git(simple, "config", "user.name", "Grace")
        git(simple, "config", "user.email", "grace@example.org")
