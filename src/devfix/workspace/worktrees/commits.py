"""Create commits on top of the user's own in the shadow, and publish them when all are done."""

from __future__ import annotations

import os
from collections.abc import Mapping

from devfix.errors import UserError
from devfix.workspace.git.command import GitError
from devfix.workspace.git.identity import as_author, find_person
from devfix.workspace.git.trees import write_tree
from devfix.workspace.worktrees.shadow import Shadow


class History:
    """Creates commits and diffs in a shadow; only `publish` writes to the user's repository."""

    def __init__(self, shadow: Shadow) -> None:
        """Work in this shadow."""
        self._origin, self._git, self._folder = shadow.origin, shadow.git, shadow.folder

    def commit(self, parent: str, files: Mapping[str, bytes], message: str) -> str:
        """Commit new contents of files on top of `parent` and return the new commit; modes are kept."""
        index = self._git.also(GIT_INDEX_FILE=str(self._folder / "index-of-commit"))
        tree = write_tree(index, parent, files, self._mode_of)
        author = as_author(find_person(self._origin.git, os.environ))
        given = f"{message.rstrip()}\n".encode("utf-8", "surrogateescape")
        return self._git.also(**author).text("commit-tree", tree, "-p", parent, "-F", "-", given=given)

    def diff(self, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> bytes:
        """Return the changes from `before` to `after` as git prints them; b"" for equal contents."""
        trees = []
        for number, files in enumerate((before, after)):
            index = self._git.also(GIT_INDEX_FILE=str(self._folder / f"index-of-diff-{number}"))
            trees.append(write_tree(index, None, files, self._mode_of))
        return self._git.call("diff-tree", "-p", "--no-ext-diff", "--no-textconv", "--no-renames", "--text", *trees)

    def _mode_of(self, path: str) -> str | None:
        entry = self._origin.entries.get(path)
        return entry.mode if entry else None

    def publish(self, commit: str, branch: str) -> bool:
        """Create a new branch with the commits in the user's repository; return False if the branch exists."""
        given = f"{commit}\n^{self._origin.commit}\n".encode()
        pack = self._git.call("pack-objects", "--revs", "--stdout", "--quiet", given=given)
        git = self._origin.git
        try:
            git.call("unpack-objects", "-q", given=pack)
        except GitError as error:
            raise UserError(f"{self._origin.root}: git cannot store the fix: {error.line}") from error
        try:
            git.call("update-ref", "-m", "devfix repair", f"refs/heads/{branch}", commit, "0" * len(commit))
        except GitError as error:
            if git.says("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"):
                return False
            raise UserError(f"git cannot make the branch {branch}: {error.line}; name another with --branch") from error
        return True
