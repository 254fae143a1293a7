"""Worktrees: the very bytes of the commit, and back to them whatever a program does; against real git."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest
from git_repositories import fingerprint, git, git_in, make_repository, write

from devfix.errors import DevfixError
from devfix.workspace import Repository

STRANGE = {
    "crlf.py": b"import torch\r\nx = 1\r\n",
    "bom.py": b"\xef\xbb\xbfx = 1\n",
    "latin.py": b"# -*- coding: latin-1 -*-\nname = '\xe9'\n",
    "no_end.py": b"x = 1",
    "tabs.py": b"if 1:\n\tx = 1\n",
    "name with \xe4 space.py": b"x = 2\n",
}


@pytest.fixture
def simple(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project", {"train.py": "x = 1\n", "lib/a.py": "y = 2\n"})


def test_worktree_is_the_commit_and_not_the_dirty_tree(simple: Path) -> None:
    write(simple, {"train.py": "x = 'changed'\n", "untracked.py": "", "lib/staged.py": ""})
    git(simple, "add", "lib/staged.py")
    before = fingerprint(simple)
    repository = Repository.open(simple)
    assert repository.dirty == ("lib/staged.py", "train.py", "untracked.py")
    with repository.worktrees(1) as worktrees:
        tree = worktrees.take()
        assert (tree.path / "train.py").read_bytes() == b"x = 1\n"
        assert not (tree.path / "untracked.py").exists()
        assert not (tree.path / "lib" / "staged.py").exists()
        assert tree.path.name == simple.name
    assert fingerprint(simple) == before


@pytest.mark.parametrize("attributes", [b"", b"*.py text eol=crlf ident\n", b"*.py working-tree-encoding=UTF-16\n"])
def test_worktree_has_the_very_bytes_modes_and_links(tmp_path: Path, attributes: bytes) -> None:
    project = make_repository(tmp_path / "project", {**STRANGE, "run.sh": "echo hi\n"})
    (project / "run.sh").chmod(0o755)
    (project / "link.py").symlink_to("crlf.py")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=more")
    (project / ".git" / "info").mkdir(exist_ok=True)
    write(project, {".gitattributes": attributes})
    blob = git(project, "hash-object", "-w", "--no-filters", ".gitattributes")
    git(project, "update-index", "--add", "--cacheinfo", f"100644,{blob},.gitattributes")
    git(project, "commit", "--quiet", "--message=attributes")
    repository = Repository.open(project)
    assert "link.py" not in repository.tracked_paths()
    with repository.worktrees(1) as worktrees:
        tree = worktrees.take().path
        for name, content in STRANGE.items():
            assert (tree / name).read_bytes() == content == repository.content(name)
        assert os.access(tree / "run.sh", os.X_OK)
        assert os.readlink(tree / "link.py") == "crlf.py"


def test_reset_undoes_whatever_a_program_did(simple: Path) -> None:
    write(simple, {".gitignore": "data/\n", "data/set.bin": b"123"})
    git(simple, "add", "--all")
    git(simple, "commit", "--quiet", "--message=ignore")
    before = fingerprint(simple)
    with Repository.open(simple).worktrees(1) as worktrees:
        tree = worktrees.take()
        at_first = fingerprint(tree.path)
        wrecks = [
            "echo more >> train.py; rm lib/a.py; mkdir -p out/deep; touch out/deep/file; echo 4 >> data/set.bin",
            "touch -r train.py stamp; printf 'x = 2\\n' > train.py; touch -r stamp train.py; rm stamp",
            "rm -rf lib; ln -s / lib; rm train.py; mkdir train.py",
            "chmod -R 0 lib; chmod 755 train.py",
            "git config core.fsmonitor 'touch pwned'; git commit -qam x; echo 'exit 1' > .git/hooks; rm -rf data",
            "echo x > new.py; git update-index --add --cacheinfo 100644,$(git hash-object train.py),new.py",
            "rm .git/index; echo more >> train.py",
            "rm .git/index; mkdir -p .git/index/deep",
            'rm -rf "$PWD"',
        ]
        for wreck in wrecks:
            subprocess.run(["bash", "-c", wreck], cwd=tree.path, capture_output=True)
            assert not tree.path.exists() or fingerprint(tree.path) != at_first
            worktrees.give(tree)
            assert worktrees.take() is tree
            now = fingerprint(tree.path)
            assert {name: now[name] for name in now if name != ".git/index"} == {
                name: at_first[name] for name in at_first if name != ".git/index"
            }
            assert git_in(tree.path, "status", "--short") == ""
    assert fingerprint(simple) == before


def test_write_lasts_until_the_reset_and_stays_inside(simple: Path, tmp_path: Path) -> None:
    with Repository.open(simple).worktrees(1) as worktrees:
        tree = worktrees.take()
        for value in (1, 2):  # of one size and, mostly, of one second: a cached module must not stand in
            tree.write({"lib/a.py": f"y = {value}\n".encode()})
            command = ["python3", "-c", "import lib.a; print(lib.a.y)"]
            environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
            assert subprocess.check_output(command, cwd=tree.path, env=environment, text=True) == f"{value}\n"
        worktrees.give(tree)
        assert (worktrees.take().path / "lib" / "a.py").read_bytes() == b"y = 2\n"
        (tree.path / "out").symlink_to(tmp_path)
        for path in ("out/file.py", "../file.py"):
            with pytest.raises(DevfixError, match="outside"):
                tree.write({path: b""})


def test_pool_makes_only_as_many_as_asked_and_waits(simple: Path) -> None:
    with Repository.open(simple).worktrees(2) as worktrees:
        first, second = worktrees.take(), worktrees.take()
        assert first.path != second.path
        third: list[Path] = []
        waiting = threading.Thread(target=lambda: third.append(worktrees.take().path))
        waiting.start()
        waiting.join(0.1)
        assert waiting.is_alive()
        worktrees.give(first)
        waiting.join(10)
        assert third == [first.path]


def test_diff_is_exact_and_can_be_applied(tmp_path: Path) -> None:
    project = make_repository(tmp_path / "project", STRANGE)
    after = {name: content.replace(b"x = ", b"xx = ").replace(b"name", b"label") for name, content in STRANGE.items()}
    repository = Repository.open(project)
    with repository.worktrees(1) as worktrees:
        diff = worktrees.diff({name: repository.content(name) for name in STRANGE}, after)
        assert worktrees.diff(STRANGE, STRANGE) == ""
    patch = tmp_path / "fix.patch"
    patch.write_bytes(diff.encode("utf-8", "surrogateescape"))
    git(project, "apply", "--whitespace=nowarn", str(patch))
    assert {name: (project / name).read_bytes() for name in STRANGE} == after
