"""Commits, trees and files of a repository of our own, as the objects of GitPython."""

from __future__ import annotations

import os
from pathlib import Path

from git import Blob, Repo, Submodule, Tree
from git.db import GitCmdObjectDB

from devfix.workspace.git.command import Git

Entry = Blob | Submodule | Tree


class BareRepo(Repo):
    """A bare repository that devfix has made; nothing in the environment says where it lies."""

    GitCommandWrapperType = Git
    git: Git

    def __init__(self, folder: Path) -> None:
        """Open the repository in this folder; `make` makes a new one."""
        super().__init__(folder, expand_vars=False)
        # GitPython believes GIT_DIR, GIT_COMMON_DIR and GIT_OBJECT_DIRECTORY, which point elsewhere in a hook.
        self.git_dir = self.working_dir = str(folder)
        self.git = Git(folder, {"GIT_DIR": str(folder)})
        self.odb = GitCmdObjectDB(os.path.join(folder, "objects"), self.git)

    @classmethod
    def make(cls, folder: Path) -> BareRepo:
        """Make an empty repository in the folder, or open the one there."""
        folder.mkdir(exist_ok=True)
        # GitPython knows the hash and the files of references that git has used so far, and no newer ones.
        formats = {"GIT_DEFAULT_HASH": "sha1", "GIT_DEFAULT_REF_FORMAT": "files"}
        Git(folder, {"GIT_DIR": str(folder), **formats}).call("init", "--quiet", "--bare", "--template=")
        return cls(folder)

    @property
    def common_dir(self) -> str:
        """The folder itself: the repository shares its objects with no other."""
        return str(self.git_dir)

    def find(self, commit: str, path: str) -> Entry | None:
        """Return what is at a path of a commit, None where nothing is."""
        try:
            return self.commit(commit).tree / path
        except KeyError:
            return None
