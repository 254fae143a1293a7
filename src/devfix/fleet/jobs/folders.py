"""The folders of a node: one for each job that runs there, and the cache of cloned repositories."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
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
        """What the command of the job writes."""
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
    def job(self, key: str) -> Iterator[JobFolder]:
        """Create the folder of a job, remove those of killed jobs, and remove the folder at the end.

        The lock of a folder, which lies where the job cannot write, shows whether its worker is alive.
        """
        self.sweep()
        jobs = self.root / "jobs"
        jobs.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"{key[:16]}-{secrets.token_hex(8)}"
        new, folder = jobs / f"new-{name}", jobs / name
        lock = -1
        try:
            new.mkdir(mode=0o700)
            lock = _lock(new)
            for each in (JobFolder(new / "files"),):
                for inner in (each.files, each.temporary, each.home):
                    inner.mkdir(mode=0o700)
            os.rename(new, folder)
            yield JobFolder(folder / "files")
        finally:
            for each_folder in (new, folder):
                remove_for_good(each_folder)
            if lock >= 0:
                os.close(lock)

    def sweep(self) -> int:
        """Remove the folders of jobs whose worker has died, and return how many there were."""
        count = 0
        for folder in (self.root / "jobs").glob("*/"):
            lock = _lock(folder)
            if lock >= 0:
                remove_for_good(folder)
                os.close(lock)
                count += 1
        return count


def _lock(folder: Path) -> int:
    """Return the descriptor of the lock of a folder, -1 where a living worker has it, or the folder is gone."""
    descriptor = -1
    try:
        descriptor = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if descriptor >= 0:
            os.close(descriptor)
        return -1
    return descriptor
