"""Notebooks in repositories: the engine sees scripts, files and commits have the JSON."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from git_repositories import make_repository
from notebooks import notebook

from devfix.errors import DevfixError
from devfix.workspace import Repository
from devfix.workspace.applied.apply import CannotApplyError, apply_changes

BEFORE = notebook("# markdown é", "x = 1\ny = 2", "z = 3", indent=2)
AFTER = BEFORE.replace(b"z = 3", b"z = 4")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    broken = {"broken.ipynb": b"{", "a.py": b"a = 1\n"}
    return Repository.open(make_repository(tmp_path / "project", {"nb.ipynb": BEFORE, **broken}))


def changed(repository: Repository) -> dict[str, bytes]:
    return {"nb.ipynb": repository.content("nb.ipynb").replace(b"z = 3", b"z = 4"), "a.py": b"a = 2\n"}


def test_content_is_the_script_and_blob_the_file(repository: Repository) -> None:
    assert repository.content("nb.ipynb") == b"# %% [cell 2]\nx = 1\ny = 2\n# %% [cell 3]\nz = 3\n"
    assert repository.blob("nb.ipynb") == BEFORE and repository.content("broken.ipynb") == b"{"


def test_worktrees_and_commits_have_notebooks(repository: Repository) -> None:
    with repository.worktrees(1) as worktrees:
        tree = worktrees.take()
        tree.write(changed(repository))
        assert (tree.path / "nb.ipynb").read_bytes() == AFTER
        worktrees.give(tree)
        worktrees.commit(changed(repository), "Change")
        worktrees.publish("fixed")
    shown = subprocess.run(["git", "show", "fixed:nb.ipynb"], cwd=repository.root, capture_output=True, check=True)
    assert shown.stdout == AFTER


def test_a_diff_is_that_of_cells(repository: Repository) -> None:
    before = {path: repository.content(path) for path in ("nb.ipynb", "a.py")}
    with repository.worktrees(1) as worktrees:
        lines = worktrees.diff(before, changed(repository)).splitlines()
    assert [line.rstrip("\t") for line in lines if line.startswith("+++")] == ["+++ b/a.py", "+++ b/nb.ipynb[cell 3]"]
    assert "+z = 4" in lines and "@@ -1 +1 @@" in lines


def test_a_notebook_that_was_run_since_takes_the_fix(repository: Repository) -> None:
    run = BEFORE.replace(b'"execution_count": 1', b'"execution_count": 12')
    (repository.root / "nb.ipynb").write_bytes(run)
    assert apply_changes(repository, changed(repository), "nb.ipynb") == ("nb.ipynb", "a.py")
    assert (repository.root / "nb.ipynb").read_bytes() == run.replace(b"z = 3", b"z = 4")


def test_an_uncommitted_line_of_the_fix_is_not_overwritten(repository: Repository) -> None:
    (repository.root / "nb.ipynb").write_bytes(BEFORE.replace(b"z = 3", b"z = 5"))
    with pytest.raises(CannotApplyError, match=r"nb\.ipynb: has uncommitted changes"):
        apply_changes(repository, changed(repository), "nb.ipynb")


def test_a_notebook_that_cannot_be_read_cannot_be_changed(repository: Repository) -> None:
    with repository.worktrees(1) as worktrees, pytest.raises(DevfixError, match=r"broken\.ipynb: the notebook cannot"):
        worktrees.take().write({"broken.ipynb": b"x = 1\n"})
