"""Fixes in the working tree: what is written, what is refused, and what undo restores, in real repositories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from git_repositories import fingerprint, git, make_repository, write

from devfix.errors import UserError
from devfix.workspace import Repository
from devfix.workspace.applied.apply import CannotApplyError, apply_changes, undo_last
from devfix.workspace.applied.journal import KEPT

BEFORE = "".join(f"line {number}\n" for number in range(1, 11))
AFTER = BEFORE.replace("line 5\n", "line 5, moved\n")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project", {"a.py": BEFORE, "b.py": BEFORE})


def apply(root: Path, **files: str) -> tuple[str, ...]:
    named = {name.replace("__", "/") + ".py": text.encode() for name, text in files.items()}
    return apply_changes(Repository.open(root), named, "python a.py")


def undo(root: Path) -> tuple[str, ...]:
    return tuple(file.path for file in undo_last(Repository.open(root)).files)


def test_files_are_changed_and_restored(root: Path) -> None:
    (root / "a.py").chmod(0o755)
    before = {name: state for name, state in fingerprint(root).items() if not name.startswith(".git")}
    assert apply(root, a=AFTER, tests__new="new\n") == ("a.py", "tests/new.py")
    assert (root / "a.py").read_text() == AFTER and (root / "tests" / "new.py").read_text() == "new\n"
    assert git(root, "diff", "--cached") == "" and git(root, "branch", "--list") == "* main"
    assert os.access(root / "a.py", os.X_OK)
    assert undo(root) == ("a.py", "tests/new.py")
    assert {name: state for name, state in fingerprint(root).items() if not name.startswith(".git")} == before


def test_uncommitted_lines_elsewhere_stay(root: Path) -> None:
    mine = BEFORE.replace("line 9\n", "line 9, mine\n")
    write(root, {"a.py": mine})
    apply(root, a=AFTER)
    assert (root / "a.py").read_text() == mine.replace("line 5\n", "line 5, moved\n")
    undo(root)
    assert (root / "a.py").read_text() == mine


@pytest.mark.parametrize("near", ["line 5\n", "line 6\n"])
def test_uncommitted_lines_of_the_fix_are_not_overwritten(root: Path, near: str) -> None:
    write(root, {"b.py": BEFORE.replace(near, "mine\n")})
    before = fingerprint(root)
    with pytest.raises(CannotApplyError, match=r"b\.py: has uncommitted changes in the lines of the fix"):
        apply(root, a=AFTER, b=AFTER)
    assert fingerprint(root) == before


def test_line_ends_of_the_working_tree_stay(root: Path) -> None:
    write(root, {"a.py": BEFORE.replace("\n", "\r\n").replace("line 9\r", "mine\r")})
    apply(root, a=AFTER)
    text = (root / "a.py").read_bytes().decode()
    assert "line 5, moved\r\n" in text and "mine\r\n" in text and "\n" not in text.replace("\r\n", "")


@pytest.mark.parametrize("state", ["deleted", "link", "folder", "new", "behind a link"])
def test_what_is_no_file_of_the_commit_is_refused(root: Path, tmp_path: Path, state: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    files = {"a": AFTER}
    if state in ("deleted", "link", "folder"):
        (root / "a.py").unlink()
    if state == "link":
        (elsewhere / "a.py").write_text(BEFORE)
        (root / "a.py").symlink_to(elsewhere / "a.py")
    elif state == "folder":
        (root / "a.py").mkdir()
    elif state == "new":
        write(root, {"new.py": "mine\n"})
        files["new"] = "new\n"
    elif state == "behind a link":
        (root / "tests").symlink_to(elsewhere)
        files["tests__new"] = "new\n"
    before, outside = fingerprint(root), fingerprint(elsewhere)
    with pytest.raises(CannotApplyError) as refused:
        apply(root, **files)
    assert "\n" not in str(refused.value)
    assert (fingerprint(root), fingerprint(elsewhere)) == (before, outside)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere: run the tests as another user")
def test_a_folder_that_cannot_be_written_changes_nothing(root: Path) -> None:
    make_repository(root, {"kept/c.py": BEFORE})
    (root / "kept").chmod(0o555)
    try:
        with pytest.raises(CannotApplyError, match="nothing is applied"):
            apply(root, a=AFTER, kept__c=AFTER)
    finally:
        (root / "kept").chmod(0o755)
    assert (root / "a.py").read_text() == BEFORE
    with pytest.raises(UserError, match="nothing to undo"):
        undo(root)


def test_an_error_while_writing_changes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace, calls = os.replace, []

    def fail_at_the_second(source: str, target: Path) -> None:
        if str(target).endswith(".py"):
            calls.append(target)
            if len(calls) == 2:
                raise OSError(28, "No space left on device")
        replace(source, target)

    before = {name: state for name, state in fingerprint(root).items() if not name.startswith(".git")}
    monkeypatch.setattr(os, "replace", fail_at_the_second)
    with pytest.raises(CannotApplyError, match="No space left on device; nothing is applied"):
        apply(root, a=AFTER, b=AFTER)
    assert {name: state for name, state in fingerprint(root).items() if not name.startswith(".git")} == before


def test_undo_refuses_files_that_changed_since(root: Path) -> None:
    apply(root, a=AFTER, b=AFTER)
    write(root, {"b.py": AFTER + "mine\n"})
    before = fingerprint(root)
    with pytest.raises(UserError, match=r"b\.py: changed since the fixes were applied, so nothing is undone"):
        undo(root)
    assert fingerprint(root) == before
    write(root, {"b.py": AFTER})
    assert undo(root) == ("a.py", "b.py")


def test_an_undo_that_fails_can_be_repeated(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apply(root, a=AFTER, b=AFTER)
    replace, full = os.replace, [True]

    def fail_once(source: str, target: Path) -> None:
        if str(target).endswith("b.py") and full.pop():
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_once)
    with pytest.raises(UserError, match=r"b\.py: No space left on device"):
        undo(root)
    full.append(False)
    undo(root)
    assert (root / "a.py").read_text() == (root / "b.py").read_text() == BEFORE


def test_undo_takes_back_one_application_after_the_other(root: Path) -> None:
    apply(root, a=AFTER)
    git(root, "commit", "--all", "--message=taken")
    apply(root, a=AFTER.replace("line 8", "line 8, moved"))
    undo(root)
    assert (root / "a.py").read_text() == AFTER
    undo(root)
    assert (root / "a.py").read_text() == BEFORE
    with pytest.raises(UserError, match="nothing to undo"):
        undo(root)


def test_undo_finishes_what_a_killed_process_began(root: Path) -> None:
    apply(root, a=AFTER, b=AFTER)
    write(root, {"b.py": BEFORE})  # as if it had been killed before it wrote the second file
    undo(root)
    assert (root / "a.py").read_text() == (root / "b.py").read_text() == BEFORE


def test_a_linked_worktree_has_its_own_record(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    apply(tmp_path / "linked", a=AFTER)
    with pytest.raises(UserError, match="nothing to undo"):
        undo(root)
    assert undo(tmp_path / "linked") == ("a.py",)


def test_a_fix_that_is_there_already_is_no_application(root: Path) -> None:
    write(root, {"a.py": AFTER})
    assert apply(root, a=AFTER) == ()
    with pytest.raises(UserError, match="nothing to undo"):
        undo(root)


def test_old_records_are_removed(root: Path) -> None:
    for number in range(KEPT + 3):
        write(root, {"a.py": BEFORE})
        apply(root, a=AFTER.replace("moved", f"moved {number}"))
    assert len(list((root / ".git" / "devfix").iterdir())) == KEPT


def test_a_record_that_cannot_be_read_is_named(root: Path) -> None:
    apply(root, a=AFTER)
    record = next((root / ".git" / "devfix").iterdir())
    record.write_text("{}")
    with pytest.raises(UserError, match=f"{record.name}: cannot be read"):
        undo(root)
