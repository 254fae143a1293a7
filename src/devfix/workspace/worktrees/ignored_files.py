"""Files that the program may need and commits lack: data sets, checkpoints, built extensions, files of Git LFS."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import re
import shutil
import stat
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from devfix.process.tempdirs import remove
from devfix.workspace.git.command import Git

# Created by tools and recreated when needed, or an environment that the interpreter finds by its own path.
_NOT_DATA = re.compile(
    r"__pycache__|.*\.py[co]|node_modules|\.git|\.?venv|\.tox|\.nox|\.eggs|\.cache|\.(mypy|pytest|ruff)_cache|\.hypothesis|"
    r"\.ipynb_checkpoints|\.idea|\.vscode|build|htmlcov"
)
_CLONE_FILE = 0x40049409  # the ioctl FICLONE: a copy that shares blocks, at no cost
_FILE_LIMIT = 16_000_000  # bytes; a larger file is cloned, or linked if the file system does not support that
_TOTAL_LIMIT = 256_000_000  # bytes copied for one worktree
_ENTRY_LIMIT = 4_000  # files to visit; a folder with more is linked as a whole, so that a data set costs nothing


@dataclass
class Data:
    """The files to provide, their origins, and which of them are linked instead of copied.

    `files` maps paths in the worktree to the user's files, including folders that are linked as a whole. `borrowed` are
    the user's own files and folders that links point to, to which a program must not write.
    """

    root: Path
    committed: Container[str] = frozenset()
    files: dict[str, Path] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    linked: set[str] = field(default_factory=set)
    borrowed: set[Path] = field(default_factory=set)
    _bytes: int = 0

    def bring(self, path: str, worktree: Path) -> None:
        """Put one file, link or linked folder into the worktree, replacing what is there."""
        source, target = self.files[path], worktree / path
        _make_folder(target.parent)
        if target.is_dir() and not target.is_symlink():
            raise FileExistsError(path)  # the commit has files in an ignored folder, which take precedence
        remove(target)
        if source.is_symlink():
            goal = os.readlink(source)
            inside = Path(os.path.normpath(source.parent / goal)).is_relative_to(self.root)
            os.symlink(goal if inside and not os.path.isabs(goal) else source.parent / goal, target)
        elif path not in self.linked:
            shutil.copy2(source, target)
        elif source.is_dir() or not _clone(source, target):
            os.symlink(source, target)

    def bring_all(self, worktree: Path) -> None:
        """Put everything into the worktree; files that have vanished or are not readable are skipped."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                _make_folder(worktree / folder)
        for path in self.files:
            with contextlib.suppress(OSError):
                self.bring(path, worktree)


def find_data(root: Path, paths: Iterable[str], committed: Container[str]) -> Data:
    """Plan how the user's uncommitted files and folders at `paths` (relative to `root`) get into worktrees."""
    data = Data(root, committed)
    for path in paths:
        source, linked = root / path.rstrip("/"), len(data.linked)
        with contextlib.suppress(OSError):
            _add(data, source, source.lstat())
        if len(data.linked) > linked:
            data.borrowed.add(source)
    return data


def _add(data: Data, source: Path, status: os.stat_result) -> None:
    path = source.relative_to(data.root).as_posix()
    if _NOT_DATA.fullmatch(source.name) or path in data.committed:
        return
    if stat.S_ISDIR(status.st_mode):
        if (source / "pyvenv.cfg").exists():
            return
        inner = list(_scan(source, _ENTRY_LIMIT - len(data.files) - len(data.folders)))
        if len(data.files) + len(data.folders) + len(inner) >= _ENTRY_LIMIT:
            data.files[path] = source
            data.linked.add(path)
            return
        data.folders.append(path)
        for entry in sorted(inner, key=lambda found: found.name):
            with contextlib.suppress(OSError):
                _add(data, Path(entry.path), entry.stat(follow_symlinks=False))
    elif stat.S_ISLNK(status.st_mode):
        data.files[path] = source
        if source.exists():
            data.borrowed.add(source.resolve())
    elif stat.S_ISREG(status.st_mode):
        data.files[path] = source
        if status.st_size > _FILE_LIMIT or data._bytes + status.st_size > _TOTAL_LIMIT:
            data.linked.add(path)
        else:
            data._bytes += status.st_size


def _make_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if os.path.realpath(folder) != os.path.normpath(folder):  # a committed link, which may lead outside
        raise NotADirectoryError(folder)


def _scan(folder: Path, limit: int) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        yield from itertools.islice(entries, max(limit, 1))


def _clone(source: Path, target: Path) -> bool:
    with source.open("rb") as given, target.open("wb") as made:
        try:
            fcntl.ioctl(made.fileno(), _CLONE_FILE, given.fileno())
        except OSError:
            target.unlink()
            return False
    shutil.copystat(source, target)
    return True


_POINTER = b"version https://git-lfs"


def large_files(git: Git, root: Path, paths: Iterable[str]) -> list[str]:
    """Return the committed paths that Git LFS stores and whose contents the user has."""
    paths = tuple(paths)
    if not any(path.rpartition("/")[2] == ".gitattributes" for path in paths):
        return []
    given = os.fsencode("".join(f"{path}\0" for path in paths))
    answers = os.fsdecode(git.call("check-attr", "--stdin", "-z", "filter", given=given)).split("\0")
    managed = [path for path, value in zip(answers[::3], answers[2::3], strict=False) if value == "lfs"]
    return [path for path in managed if _is_content(root / path)]


def _is_content(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_POINTER)) != _POINTER
    except OSError:
        return False
