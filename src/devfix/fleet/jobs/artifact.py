"""Read back the artifact of a job, which the program under repair may have written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from devfix.fleet.jobs.ending import Ended
from devfix.fleet.records import JobOutcome
from devfix.report.render.plain import one_line

SIZE = 20_000_000  # bytes; as much as `devfix publish` reads
ENTRIES = 500


def read_artifact(folder: Path) -> tuple[tuple[str, bytes], ...]:
    """Return the contents of the files of a folder by their paths, () if there is none.

    Links, special files, and more than a job writes are refused: Raises Ended.
    """
    files: list[tuple[str, bytes]] = []
    _read(folder, "", files)
    return tuple(sorted(files))


def _read(folder: Path, below: str, files: list[tuple[str, bytes]]) -> None:
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(status.st_mode):
        raise _refused(f"{below or 'artifact'} is not a folder")
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{below}{entry.name}"
            if len(files) >= ENTRIES or name.count("/") > 4:
                raise _refused("it has more files than a job writes")
            if entry.is_dir(follow_symlinks=False):
                _read(Path(entry.path), f"{name}/", files)
            elif entry.is_file(follow_symlinks=False):
                left = SIZE - sum(len(content) for _, content in files)
                files.append((name, _content(entry.path, name, left)))
            else:
                raise _refused(f"{name} is not a regular file")


def _content(path: str, name: str, left: int) -> bytes:
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        content = file.read(left + 1)
    if len(content) > left:
        raise _refused(f"it is larger than {SIZE // 1_000_000} MB")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise _refused("the name of a file is not UTF-8") from None
    return content


def _refused(why: str) -> Ended:
    return Ended(JobOutcome.ARTIFACT_REJECTED, one_line(f"the artifact is rejected: {why}"))
