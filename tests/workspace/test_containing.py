"""The files of a commit that contain a text."""

from __future__ import annotations

from pathlib import Path

from git_repositories import git, make_repository

from devfix.workspace import Repository


def test_a_commit_is_searched_for_a_text_once(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project", {"train.py": "x = 1\n"})
    repository = Repository.open(root)
    assert repository.containing(["x = 1"]) == ("train.py",) and repository.containing(["y"]) == ()
    (root / ".git").rename(tmp_path / "away")
    assert repository.containing(["x = 1"]) == ("train.py",) and repository.containing([]) == ()


def test_another_commit_is_searched_again(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project", {"train.py": "x = 1\n"})
    first = Repository.open(root)
    assert first.containing(["x = 1"]) == ("train.py",)
    (root / "train.py").write_text("x = 2\n")
    git(root, "commit", "--quiet", "--all", "--message", "Change x")
    second = first.at(git(root, "rev-parse", "HEAD").strip())
    assert second.containing(["x = 1"]) == () and first.containing(["x = 1"]) == ("train.py",)
