"""Folders in which cases run, as worktrees are for a repository."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Folder:
    """A folder with a case's files."""

    path: Path

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files; the paths are relative."""
        for name, content in files.items():
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


class Folders:
    """Provides a new folder with the same files each time; may be used from several threads."""

    def __init__(self, parent: Path, files: Mapping[str, bytes]) -> None:
        self.parent, self.files = parent, files

    _numbers = itertools.count()

    def take(self) -> Folder:
        """Create a folder with the files."""
        folder = Folder(self.parent / str(next(self._numbers)))
        folder.path.mkdir(parents=True)
        folder.write(self.files)
        return folder

    def give(self, worktree: Folder) -> None:
        """Remove a folder, whatever a program changed in it."""
        shutil.rmtree(worktree.path, ignore_errors=True)
