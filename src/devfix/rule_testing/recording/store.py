"""Records on disk that several processes share: a file for each, written as a whole, within a limit of all together."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

FOLDER = "runs"  # in the user's cache folder of devfix
LIMIT = 256 << 20  # bytes; the runs of this repository's pages take a tenth of that
KEPT = 0.75  # of the limit, after the records that were not used for longest are removed


def user_store() -> Store:
    """Return the store in the user's cache folder: ~/.cache/devfix/runs on Linux, unless XDG_CACHE_HOME is set."""
    from platformdirs import user_cache_path

    return Store(user_cache_path("devfix", appauthor=False) / FOLDER)


class Store:
    """Maps keys (hexadecimal digests) to bytes in files below a folder, which appears with the first record.

    A record is written beside its place and then renamed, so that a reader never sees a part of it, whatever is killed.
    An error of the disk is a record less: nothing is read, or nothing is kept.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.folder, self.limit = folder, limit
        self._is_changed = False

    def get(self, key: str) -> bytes | None:
        """Return a record and note that it was used; None if there is none."""
        path = self._path(key)
        try:
            data = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return data

    def put(self, key: str, data: bytes) -> None:
        """Write a record, in place of one of the same key."""
        path = self._path(key)
        new = path.with_name(f"{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            new.write_bytes(data)
            new.replace(path)
            self._is_changed = True
        except OSError:
            with contextlib.suppress(OSError):
                new.unlink()

    def trim(self) -> None:
        """If records were written and all together exceed the limit, remove those that were not used for longest."""
        if not self._is_changed:
            return
        records = sorted(self._records())
        total = sum(size for _, size, _ in records)
        if total <= self.limit:
            return
        for _, size, path in records:
            if total <= self.limit * KEPT:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size

    def clear(self) -> None:
        """Remove every record."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]

    def _records(self) -> Iterator[tuple[float, int, str]]:
        """Yield when each file was last used, its size and its path, also of what a killed process left."""
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                with contextlib.suppress(OSError):
                    found = os.stat(path)
                    yield found.st_mtime, found.st_size, path
