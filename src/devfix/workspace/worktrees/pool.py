"""A pool of worktrees, and the commits of verified fixes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from devfix.errors import UserError
from devfix.workspace.notebooks import as_cells, on_disk
from devfix.workspace.worktrees.commits import History
from devfix.workspace.worktrees.shadow import Origin, Shadow
from devfix.workspace.worktrees.worktree import Worktree


class Worktrees:
    """Up to `count` worktrees of a repository, each created on demand; may be used from several threads."""

    def __init__(self, origin: Origin, folder: Path, count: int) -> None:
        """Keep everything below `folder`, which the caller removes."""
        self._shadow = Shadow(origin, folder)
        self._history = History(self._shadow)
        self._free: list[Worktree] = []
        self._made, self._count = 0, count
        self._changed = threading.Condition()
        self._base = self._last = origin.commit

    @property
    def linked(self) -> tuple[str, ...]:
        """The ignored data that is too large to copy, to which the worktrees have links."""
        return tuple(sorted(self._shadow.data.linked))

    @property
    def borrowed(self) -> tuple[Path, ...]:
        """The user's own files and folders that links point to, to which a program must not write."""
        return tuple(sorted(self._shadow.data.borrowed))

    @property
    def scratch(self) -> Path:
        """A folder for files that are removed together with the worktrees, also if devfix is killed."""
        folder = self._shadow.folder / "scratch"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def commits(self) -> tuple[str, ...]:
        """The last commit and those before it up to the repository's own, oldest first."""
        if self._last == self._base:
            return ()
        return tuple(self._shadow.git.text("rev-list", "--reverse", f"{self._base}..{self._last}").split("\n"))

    def take(self) -> Worktree:
        """Wait for a free worktree, in the state of the commit."""
        with self._changed:
            self._changed.wait_for(lambda: self._free or self._made < self._count)
            if self._free:
                worktree = self._free.pop()
            else:
                self._made += 1
                worktree = None
                number = self._made
        try:
            if worktree is None:
                path = self._shadow.folder / "trees" / str(number) / (self._shadow.origin.root.name or "root")
                return Worktree(self._shadow, path, self._shadow.folder / f"index-{number}")
            worktree.reset()
            return worktree
        except BaseException:
            with self._changed:
                self._made -= 1
                self._changed.notify()
            raise

    def give(self, worktree: Worktree) -> None:
        """Return a worktree to the pool, in whatever state it is."""
        with self._changed:
            self._free.append(worktree)
            self._changed.notify()

    def diff(self, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
        """Return the changes of files (paths to contents) as git prints them, byte for byte.

        Bytes that are not UTF-8 are surrogate-escaped: `.encode("utf-8", "surrogateescape")` restores them. A changed
        cell of a notebook is a file of its own.
        """
        return self._history.diff(*as_cells(before, after)).decode("utf-8", "surrogateescape")

    def commit(self, files: Mapping[str, bytes], message: str) -> str:
        """Commit new contents of files on top of the last commit and return the new one's id."""
        self._last = self._history.commit(self._last, on_disk(files, self._shadow.blob), message)
        return self._last

    def publish(self, branch: str, exactly: bool = False) -> str:
        """Create a new branch with the commits in the user's repository and return its name.

        If the name is taken, the next free one (`-2`, `-3`, …) is used; `exactly` raises UserError instead.
        """
        name, number = branch, 1
        while not self._history.publish(self._last, name):
            if exactly:
                raise UserError(
                    f"--branch {branch}: the branch exists; name another or delete it: git branch -D {branch}"
                )
            number += 1
            name = f"{branch}-{number}"
        return name
