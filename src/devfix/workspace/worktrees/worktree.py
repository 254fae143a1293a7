"""A worktree: the files of the commit and the data beside them, reset between uses."""

from __future__ import annotations

import os
import shutil
import stat
import struct
from collections.abc import Mapping
from pathlib import Path

from devfix.errors import DevfixError
from devfix.process.tempdirs import remove
from devfix.workspace.git.command import GitError
from devfix.workspace.notebooks import on_disk
from devfix.workspace.worktrees.shadow import Shadow

# Creating a file takes 0.14 ms on ext4: 10,000 take 1.3 s, and 0.6 s with four threads, even on two cores.
_WORKERS = "checkout.workers=4"
_INDEX = ".git/index"
_State = bytes  # a tuple of numbers would take three times the memory, for every file of a repository
_FOLDER, _FILE = struct.Struct("<I"), struct.Struct("<IQqqQ")


class Worktree:
    """A folder with the repository's files at the commit, which the program may change."""

    def __init__(self, shadow: Shadow, path: Path, index: Path) -> None:
        """Fill the folder `path`; `index` is the file of git's index for it."""
        self.path, self._shadow, self._index = path, shadow, index
        self._git = shadow.git.also(_WORKERS, GIT_WORK_TREE=str(path), GIT_INDEX_FILE=str(index))
        self._made: dict[str, _State] = {}
        self._build()

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write contents (paths relative to the repository) until the next reset; modes are kept.

        The contents of a notebook are its script.
        """
        for name, content in on_disk(files, self._shadow.blob).items():
            target = Path(os.path.normpath(self.path / name))
            if os.path.realpath(target) != str(target) or not target.is_relative_to(self.path):
                raise DevfixError(f"{name}: is behind a symbolic link, or outside of the repository")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            # Python would use a cached module of the same second and size instead of this edit.
            for cached in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
                cached.unlink(missing_ok=True)

    def reset(self) -> None:
        """Restore every file and remove new ones; recreate the folder if a program damaged it."""
        try:
            self._repair()
        except (OSError, GitError):
            self._build()

    def _build(self) -> None:
        remove(self.path)
        self.path.mkdir(parents=True)
        shutil.copyfile(self._shadow.index, self._index)
        self._git.call("checkout-index", "--all", "--force", "--index")
        self._shadow.data.bring_all(self.path)
        self._give_git()
        self._made = _survey(self.path)

    def _give_git(self) -> None:
        """Create the repository that the program sees; devfix itself never reads it."""
        remove(self.path / ".git")
        shutil.copytree(self._shadow.seen, self.path / ".git", symlinks=True)
        self._give_index()

    def _give_index(self) -> None:
        index = self.path / _INDEX
        index.unlink(missing_ok=True)
        shutil.copyfile(self._index, index)

    def _repair(self) -> None:
        found = _survey(self.path)
        changed = [path for path, state in self._made.items() if found.get(path) != state]
        extra = [path for path in found if path not in self._made]
        if any(_is_folder(self._made[path]) for path in changed):  # one was removed, is unreadable, or is a link now
            self._build()
            return
        lost = []
        for path in [*extra, *changed]:
            if path.startswith(".git/"):
                continue
            remove(self.path / path)
            if path in self._shadow.data.files:
                self._shadow.data.bring(path, self.path)
            elif path in self._made:
                lost.append(path)
        if lost:
            given = "".join(f"{path}\0" for path in lost)
            self._git.call("checkout-index", "--force", "--index", "-z", "--stdin", given=os.fsencode(given))
        if not changed and not extra:
            return
        if all(path == _INDEX or not path.startswith(".git/") for path in (*changed, *extra)):
            self._give_index()  # to remove the folders of .git takes 26 ms of a reset's 37
        else:
            self._give_git()
        self._made = _survey(self.path)


def _is_folder(state: _State) -> bool:
    return stat.S_ISDIR(_FOLDER.unpack_from(state)[0])


def _survey(folder: Path) -> dict[str, _State]:
    """Return the state of everything below the folder; unlike other times, the change time cannot be reset."""
    states: dict[str, _State] = {}

    def look(inner: str, prefix: str) -> None:
        with os.scandir(inner) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    states[prefix + entry.name] = _FOLDER.pack(status.st_mode)
                    look(entry.path, f"{prefix}{entry.name}/")
                else:
                    numbers = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
                    states[prefix + entry.name] = _FILE.pack(*numbers)

    look(str(folder), "")
    return states
