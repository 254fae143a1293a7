"""The user's repository: what can be opened and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from git_repositories import git, git_in, make_repository, write

from devfix.errors import UserError
from devfix.workspace import Repository


@pytest.fixture
def simple(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project", {"train.py": "x = 1\n", "lib/a.py": "y = 2\n"})


def test_open_tells_where_it_is(simple: Path) -> None:
    repository = Repository.open(simple / "lib")
    assert (repository.root, repository.subfolder, repository.head) == (simple, "lib", "main")
    assert repository.commit == git(simple, "rev-parse", "HEAD")
    assert repository.tracked_paths() == {"train.py", "lib/a.py"}
    assert repository.content("lib/a.py") == b"y = 2\n"
    assert repository.content_if_any("lib/a.py") == b"y = 2\n"
    assert repository.content_if_any("~/.pyenv/lib/copy.py") is None
    assert Repository.open(simple).subfolder == ""


def test_open_refuses_in_one_line(tmp_path: Path, simple: Path) -> None:
    bare, empty, plain = tmp_path / "bare", tmp_path / "empty", tmp_path / "plain"
    for folder in (bare, empty, plain):
        folder.mkdir()
    git(bare, "init", "--bare", "--quiet")
    git(empty, "init", "--quiet")
    write(simple, {"new/file.py": ""})
    reasons = {
        bare: "bare",
        simple / ".git": "bare",
        empty: "no commit",
        plain: "git init",
        tmp_path / "nowhere": "no such folder",
        simple / "train.py": "not a folder",
        simple / "new": "nothing in this folder is committed",
    }
    for path, reason in reasons.items():
        with pytest.raises(UserError, match=reason) as caught:
            Repository.open(path)
        assert "\n" not in str(caught.value)


def test_someone_elses_repository_is_refused_with_the_remedy(simple: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    if os.getuid() != 0:
        pytest.skip("only root can give a folder away")
    for path in (simple, simple / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(UserError, match=r"safe\.directory"):
        Repository.open(simple)


def taken(folder: Path) -> bytes:
    with Repository.open(folder).worktrees(1) as worktrees:
        return (worktrees.take().path / "lib" / "a.py").read_bytes()


def test_a_clone_that_lacks_files_is_refused_with_the_remedy(simple: Path, tmp_path: Path) -> None:
    git(simple, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", "--no-checkout", f"file://{simple}", str(clone))
    with pytest.raises(UserError, match="partial clone; fetch them: git fetch --refetch --no-filter") as caught:
        taken(clone)
    assert "\n" not in str(caught.value)
    git(clone, "fetch", "--quiet", "--refetch", "--no-filter")
    assert taken(clone) == b"y = 2\n"


def test_a_repository_that_has_lost_a_file_is_refused(simple: Path) -> None:
    blob = git(simple, "rev-parse", "HEAD:train.py")
    (simple / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(UserError, match=r"git lacks files of the commit .*git fsck shows more"):
        taken(simple)


def test_detached_head_and_hook_environment(simple: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(simple, "checkout", "--quiet", "--detach")
    other = make_repository(tmp_path / "other", {"other.py": "z = 3\n"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    repository = Repository.open(simple)
    assert repository.head is None
    assert "train.py" in repository.tracked_paths()
    with repository.worktrees(1) as worktrees:
        assert git_in(worktrees.take().path, "rev-parse", "HEAD") == repository.commit
