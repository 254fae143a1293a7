"""The folders of a node: one for each job that runs there, and the cache of cloned repositories."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from platformdirs import user_cache_path

from devfix.process.tempdirs import remove_for_good

_LOCK = "lock"


@dataclass(frozen=True)
class JobFolder:
    """The folder of a job: `files` is what the job may write, and counts as its disk."""

    files: Path

    @property
    def repository(self) -> Path:
        """The clone."""
        return self.files / "repository"

    @property
    def artifact(self) -> Path:
        """The folder that the command of the job writes."""
        return self.files / "artifact"

    @property
    def temporary(self) -> Path:
        """The folder for temporary files."""
        return self.files / "tmp"

    @property
    def home(self) -> Path:
        """The home folder of the job, with its caches."""
        return self.files / "home"


@dataclass(frozen=True)
class NodeFolders:
    """The folders below `root`, which several workers of a node share."""

    root: Path

    @classmethod
    def of_user(cls) -> NodeFolders:
        """Return those in the cache folder of the user."""
        return cls(Path(user_cache_path("devfix", appauthor=False)) / "fleet")

    @property
    def clones(self) -> Path:
        """Bare repositories, one for each address."""
        return self.root / "clones"

    @contextlib.contextmanager
    def job(self, address: str) -> Iterator[JobFolder]:
        """Create a folder for a job with the repository at an address, and remove it at the end.

        It has the same path the next time, so that environments, which know where the sources of their project are,
        serve again. Its lock, which is where the job cannot write, shows whether its worker is alive; folders of
        killed jobs are removed first.
        """
        self.sweep()
        stem = hashlib.sha256(address.encode()).hexdigest()[:16]
        folder, lock = next(found for number in count() if (found := self._take(f"{stem}-{number}")))
        try:
            files = JobFolder(folder / "files")
            for inner in (files.files, files.temporary, files.home):
                inner.mkdir(mode=0o700)
            yield files
        finally:
            remove_for_good(folder)
            os.close(lock)

    def _take(self, name: str) -> tuple[Path, int] | None:
        """Return a folder that is locked for this process, and the lock; None if another one uses it."""
        folder = self.root / "jobs" / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = _lock(folder)
        if lock < 0:
            return None
        remove_for_good(folder / "files")
        return folder, lock

    def sweep(self) -> int:
        """Remove the folders of jobs whose worker has died, and return how many there were."""
        removed = 0
        for folder in (self.root / "jobs").glob("*/"):
            lock = _lock(folder)
            if lock >= 0:
                remove_for_good(folder)
                os.close(lock)
                removed += 1
        return removed


def _lock(folder: Path) -> int:
    """Return the descriptor of the lock of a folder, -1 where a living worker has it, or the folder is gone."""
    path, descriptor = folder / _LOCK, -1
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):  # not removed by a sweep since it was opened
            return descriptor
    except OSError:
        pass
    if descriptor >= 0:
        os.close(descriptor)
    return -1
