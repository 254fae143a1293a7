"""Read back the artifact of a job, which the program under repair may have written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from devfix.fleet.jobs.ending import Ended
from devfix.model import JobOutcome
from devfix.report.plain import one_line

SIZE = 20_000_000  # bytes; as much as `devfix publish` reads
ENTRIES = 500
DEPTH = 4  # folders in folders
TOO_MANY = "it has more files than a job writes"


def read_artifact(folder: Path) -> tuple[tuple[str, bytes], ...]:
    """Return the contents of the files of a folder by their paths, () if there is none.

    Links, special files, and more than a job writes are refused: Raises Ended.
    """
    files: dict[str, bytes] = {}
    for path, name in _entries(folder, ""):
        if len(files) >= ENTRIES:
            raise _reject(TOO_MANY)
        files[name] = _content(path, name, SIZE - sum(map(len, files.values())))
    return tuple(sorted(files.items()))


def _entries(folder: Path, below: str) -> Iterator[tuple[str, str]]:
    """Yield the paths of the files of a folder, each with its name in the artifact."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(status.st_mode):
        raise _reject(f"{below or 'artifact'} is not a folder")
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{below}{entry.name}"
            if name.count("/") > DEPTH:
                raise _reject(TOO_MANY)
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(Path(entry.path), f"{name}/")
            elif entry.is_file(follow_symlinks=False):
                yield entry.path, name
            else:
                raise _reject(f"{name} is not a regular file")


def _content(path: str, name: str, left: int) -> bytes:
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        content = file.read(left + 1)
    if len(content) > left:
        raise _reject(f"it is larger than {SIZE // 1_000_000} MB")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise _reject("the name of a file is not UTF-8") from None
    return content


def _reject(why: str) -> Ended:
    return Ended(JobOutcome.ARTIFACT_REJECTED, one_line(f"the artifact is rejected: {why}"))
