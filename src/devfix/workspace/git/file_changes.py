"""The changes of a commit, for services that create commits from file contents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from devfix.workspace.git.command import Git

FILE, EXECUTABLE = "100644", "100755"


@dataclass(frozen=True)
class FileChange:
    """A file that a commit adds or changes, or removes (`content` is None); `mode` is git's, before and after.

    The mode is "000000" where the file does not exist.
    """

    path: str
    old_mode: str
    mode: str
    content: bytes | None


@dataclass(frozen=True)
class CommitChanges:
    """A commit: its tree, its message, and the files that it changes."""

    tree: str
    message: str
    files: tuple[FileChange, ...]


def file_changes(git: Git, old: str, new: str) -> Iterator[FileChange]:
    """Yield the files that differ between two commits; a renamed file is removed and added."""
    listed = git.call("diff-tree", "-r", "-z", "--no-renames", "--raw", old, new).decode("utf-8", "surrogateescape")
    parts = listed.split("\0")
    for head, path in zip(parts[0::2], parts[1::2], strict=False):
        old_mode, mode, _, blob, _ = head.removeprefix(":").split(" ")
        exists = mode != "000000"
        is_file = mode in (FILE, EXECUTABLE)
        yield FileChange(path, old_mode, mode, (git.read_blob(blob) if is_file else b"") if exists else None)
