"""Commits, trees and files of devfix's own repositories, as GitPython objects."""

from __future__ import annotations

import os
from pathlib import Path

from git import Blob, Repo, Submodule, Tree
from git.db import GitCmdObjectDB

from devfix.workspace.git.command import Git

Entry = Blob | Submodule | Tree


class BareRepo(Repo):
    """A bare repository created by devfix; environment variables do not change its location."""

    GitCommandWrapperType = Git
    git: Git

    def __init__(self, folder: Path) -> None:
        """Open the repository in this folder; `make` creates one."""
        super().__init__(folder, expand_vars=False)
        # GitPython uses GIT_DIR, GIT_COMMON_DIR and GIT_OBJECT_DIRECTORY, which name another repository in a hook.
        self.git_dir = self.working_dir = str(folder)
        self.git = Git(folder, {"GIT_DIR": str(folder)})
        self.odb = GitCmdObjectDB(os.path.join(folder, "objects"), self.git)

    @classmethod
    def make(cls, folder: Path) -> BareRepo:
        """Create an empty repository in the folder, or open the existing one."""
        folder.mkdir(exist_ok=True)
        # GitPython supports only the original hash and reference format.
        formats = {"GIT_DEFAULT_HASH": "sha1", "GIT_DEFAULT_REF_FORMAT": "files"}
        Git(folder, {"GIT_DIR": str(folder), **formats}).call("init", "--quiet", "--bare", "--template=")
        return cls(folder)

    @property
    def common_dir(self) -> str:
        """The folder itself: the repository shares its objects with no other."""
        return str(self.git_dir)

    def find(self, commit: str, path: str) -> Entry | None:
        """Return the entry at a path of a commit; None if there is none."""
        try:
            return self.commit(commit).tree / path
        except KeyError:
            return None
