"""Check and write the artifact of a job, which the program under repair may have written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from devfix.report.plain import one_line

_FILES, _FILE_SIZE, _SIZE = 2_000, 20_000_000, 50_000_000  # a repair writes some ten files of 100,000 bytes
_DEPTH, _NAME = 4, 200  # parts of a path, bytes of a part

Files = Sequence[tuple[str, bytes]]


def explain_rejection(files: Files) -> str:
    """Return why these files are not an artifact of devfix; "" if they may be one."""
    if len(files) > _FILES:
        return f"more than {_FILES} files"
    size = 0
    taken: set[str] = set()
    folders: set[str] = set()
    for name, content in files:
        if why := _unsafe(name):
            return f"{one_line(name, 100)!r} {why}"
        if len(content) > _FILE_SIZE:
            return f"{name!r} is larger than {_FILE_SIZE // 1_000_000} MB"
        size += len(content)
        if size > _SIZE:
            return f"its files are larger than {_SIZE // 1_000_000} MB"
        if name in taken:
            return f"{name!r} is there twice"
        taken.add(name)
        folders.update(str(parent) for parent in PurePosixPath(name).parents)
    both = sorted(taken & folders)
    return f"{both[0]!r} is a file and a folder" if both else ""


def _unsafe(name: str) -> str:
    parts = name.split("/")
    if not name.isascii() or not name.isprintable() or "\\" in name or ":" in name:
        return "is not a safe path"
    if any(part in ("", ".", "..") for part in parts):
        return "is not inside the artifact"
    return "is too long a path" if len(parts) > _DEPTH or any(len(part) > _NAME for part in parts) else ""


def write_files(folder: Path, files: Files) -> None:
    """Write checked files to a new folder, and have the system store them."""
    folder.mkdir(mode=0o755)
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_synced(path, content)


def write_synced(path: Path, content: bytes) -> None:
    """Write a new file, and wait until the system has stored it."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def remove(path: Path) -> None:
    """Remove a file, a link or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
