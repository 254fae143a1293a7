"""What git does not have but the program needs: ignored data, submodules, large files kept elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from git_repositories import fingerprint, git, make_repository, write

from devfix.workspace import Repository
from devfix.workspace.worktrees import ignored_files

IGNORED = {
    "data/set.bin": b"123",
    "data/deep/more.bin": b"456",
    "checkpoints/large.pt": b"x" * 5000,
    "model_C.so": b"so",
    ".venv/bin/python": b"",
    "env/pyvenv.cfg": b"",
    "node_modules/a.js": b"",
    "pkg/__pycache__/a.pyc": b"",
    "build/lib.o": b"",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    ignore = "data/\ncheckpoints/\n*.so\n.venv/\nenv/\nnode_modules/\n__pycache__/\nbuild/\nelsewhere\n"
    folder = make_repository(tmp_path / "project", {".gitignore": ignore, "pkg/a.py": "x = 1\n"})
    write(folder, IGNORED)
    return folder


def test_ignored_data_comes_along_and_the_users_own_is_safe(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ignored_files, "_FILE_LIMIT", 1000)
    monkeypatch.setattr(
        ignored_files, "_clone", lambda source, target: False
    )  # as on a file system that cannot share blocks
    write(tmp_path, {"elsewhere/file": b"far"})
    (project / "elsewhere").symlink_to("../elsewhere")
    before = fingerprint(project)
    repository = Repository.open(project)
    assert repository.dirty == ()
    with repository.worktrees(1) as worktrees:
        tree = worktrees.take().path
        assert (tree / "data" / "deep" / "more.bin").read_bytes() == b"456"
        assert (tree / "elsewhere" / "file").read_bytes() == b"far"
        assert (tree / "checkpoints" / "large.pt").resolve() == project / "checkpoints" / "large.pt"
        assert worktrees.linked == ("checkpoints/large.pt",)
        assert worktrees.borrowed == (tmp_path / "elsewhere", project / "checkpoints")
        assert sorted(path.name for path in tree.iterdir()) == sorted(
            [".git", ".gitignore", "checkpoints", "data", "elsewhere", "model_C.so", "pkg"]
        )
        for path in (tree / "data").rglob("*.bin"):
            path.write_bytes(b"overwritten")
        (tree / "checkpoints" / "new.pt").write_bytes(b"new")
        (tree / "checkpoints" / "large.pt").unlink()
    assert fingerprint(project) == before


def test_a_folder_with_too_many_files_is_linked_whole(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ignored_files, "_ENTRY_LIMIT", 50)
    write(project, {f"data/images/{number}.png": b"" for number in range(100)})
    with Repository.open(project).worktrees(1) as worktrees:
        tree = worktrees.take()
        assert worktrees.linked == ("data/images",)
        assert len(list((tree.path / "data" / "images").iterdir())) == 100
        assert (tree.path / "data" / "set.bin").is_file()
        tree.reset()
    assert len(list((project / "data" / "images").iterdir())) == 100


def test_data_never_stands_in_for_what_is_committed(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside, {"kept.bin": b"kept"})
    git(project, "add", "--force", "data/set.bin")
    (project / "linked").symlink_to(outside)
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=more")
    git(project, "rm", "--quiet", "--cached", "data/set.bin")  # ignored from now on, but the commit has it
    (project / "linked").unlink()
    write(project, {"data/set.bin": b"mine", "linked/kept.bin": b"other", ".git/info/exclude": "linked/\n"})
    with Repository.open(project).worktrees(1) as worktrees:
        tree = worktrees.take().path
        assert (tree / "data" / "set.bin").read_bytes() == b"123"
        assert os.readlink(tree / "linked") == str(outside)
    assert (outside / "kept.bin").read_bytes() == b"kept"


def test_submodule_is_there_and_not_ours(project: Path, tmp_path: Path) -> None:
    library = make_repository(tmp_path / "library", {"lib.py": "z = 1\n"})
    git(project, "submodule", "--quiet", "add", str(library), "vendor/library")
    git(project, "commit", "--quiet", "--message=submodule")
    before = fingerprint(project)
    repository = Repository.open(project)
    assert "vendor/library/lib.py" not in repository.tracked_paths()
    with repository.worktrees(1) as worktrees:
        tree = worktrees.take()
        assert (tree.path / "vendor" / "library" / "lib.py").read_bytes() == b"z = 1\n"
        (tree.path / "vendor" / "library" / "lib.py").write_bytes(b"")
        tree.reset()
        assert (tree.path / "vendor" / "library" / "lib.py").read_bytes() == b"z = 1\n"
        worktrees.commit({"pkg/a.py": b"x = 2\n"}, "Fix")
        branch = worktrees.publish("devfix/fix")
    assert git(project, "diff", "--stat", "HEAD", branch, "--", "vendor") == ""
    assert {name: now for name, now in fingerprint(project).items() if name in before} == before
    inside = Repository.open(project / "vendor" / "library")
    assert inside.tracked_paths() == {"lib.py"}


def test_large_files_kept_elsewhere_come_from_the_users_tree(project: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n"
    files = {".gitattributes": "*.bin filter=lfs -text\n", "weights.bin": pointer, "absent.bin": pointer}
    write(project, files)
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=weights")
    write(project, {"weights.bin": b"content"})
    with Repository.open(project).worktrees(1) as worktrees:
        tree = worktrees.take().path
        assert (tree / "weights.bin").read_bytes() == b"content"
        assert (tree / "absent.bin").read_bytes() == pointer
