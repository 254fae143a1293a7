"""Merge a change into a file that has uncommitted changes in other lines."""

from __future__ import annotations

from pathlib import Path

from devfix.process.tempdirs import scratch_folder
from devfix.workspace.git.command import Git, GitError


def merge(git: Git, committed: bytes, present: bytes, changed: bytes) -> bytes | None:
    """Return `present` with the change from `committed` to `changed`; None if both changed the same lines.

    Git may have checked the file out with other line ends than the commit has; the result has those of `present`.
    """
    if present == committed:
        return changed
    if _with_carriage_returns(committed) == present:
        return _with_carriage_returns(changed)
    if b"\r" not in committed and b"\r\n" in present and present.count(b"\n") == present.count(b"\r\n"):
        committed, changed = _with_carriage_returns(committed), _with_carriage_returns(changed)
    with scratch_folder() as folder:
        names = []
        for name, content in (("present", present), ("committed", committed), ("changed", changed)):
            Path(folder, name).write_bytes(content)
            names.append(str(folder / name))
        try:
            return git.call("merge-file", "--stdout", "--quiet", *names)
        except GitError:  # its exit code is the number of conflicts
            return None


def _with_carriage_returns(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
