"""The commands of a repository that reach some of its files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from devfix.discovery.command import Command
from devfix.discovery.entry_points import entry_points
from devfix.discovery.imports import Imports
from devfix.discovery.project import Project


class _Reaching(Imports):
    """Imports that search for files of the repository instead of torch."""

    def __init__(self, root: Path, tracked: frozenset[str], python: Path, targets: frozenset[str]) -> None:
        super().__init__(root, tracked, python)
        self._reached = targets

    def reaches_torch(self, path: str) -> bool:
        return self.reaches(path, self._reached)


def reaching(root: Path, tracked: frozenset[str], python: Path, targets: frozenset[str]) -> Iterator[Command]:
    """Yield the entry points that reach some files.

    `root` is the folder that commands are run in; `tracked` and `targets` are paths below it. No code is executed.
    """
    yield from entry_points(Project(root, tracked), _Reaching(root, tracked, python, targets), python)
