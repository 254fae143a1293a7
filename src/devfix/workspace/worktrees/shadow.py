"""A private repository that shares the user's objects, so that nothing is written to theirs before a branch is done."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from devfix.workspace.git.command import Git
from devfix.workspace.git.trees import Entry
from devfix.workspace.worktrees.ignored_files import Data, find_data, large_files

# Worktrees contain the exact bytes of the commit: no line ending conversion, no keywords, no filters.
_ATTRIBUTES = "* -text -ident -filter !eol !working-tree-encoding\n"


@dataclass(frozen=True)
class Origin:
    """The properties of the original repository; `head` is its branch, None if detached.

    `ignored` are the paths that git ignores, `submodules` those of other repositories.
    """

    root: Path
    commit: str
    head: str | None
    git: Git
    entries: Mapping[str, Entry]
    ignored: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()


class Shadow:
    """The private repository, the one that programs see, and the data for each worktree.

    `git` uses the private one, `index` is its index file for the commit, `seen` the folder for `.git`.
    """

    def __init__(self, origin: Origin, folder: Path) -> None:
        """Create both below `folder`; the user's repository is only read."""
        self.origin, self.folder = origin, folder
        self.seen, private = folder / "seen", folder / "private"
        self._make_seen()
        shutil.copytree(self.seen, private)
        # Parents of the commit are not needed, and a shallow clone lacks them.
        (private / "shallow").write_text(f"{origin.commit}\n")
        self.git = _ours(folder, private).also("core.bare=false", "core.logAllRefUpdates=false")
        self.index = folder / "index"
        self.git.also(GIT_INDEX_FILE=str(self.index)).call("read-tree", origin.commit)
        large = large_files(origin.git, origin.root, origin.entries)
        committed = origin.entries.keys() - {*large, *origin.submodules}
        self.data: Data = find_data(origin.root, (*origin.ignored, *origin.submodules, *large), committed)

    def blob(self, path: str) -> bytes:
        """Return the bytes of a file at the commit. Raises FileNotFoundError if there is none."""
        entry = self.origin.entries.get(path)
        if entry is None:
            raise FileNotFoundError(path)
        return self.origin.git.read_blob(entry.object_id)

    def _make_seen(self) -> None:
        """Create what a program finds as `.git`: the commit, the branch and the tags, by reference."""
        origin = self.origin
        self.seen.mkdir()
        kind = origin.git.says("rev-parse", "--show-object-format") or "sha1"
        objects, shallow = (
            origin.root / origin.git.text("rev-parse", "--git-path", name) for name in ("objects", "shallow")
        )
        git = _ours(self.folder, self.seen).also("core.logAllRefUpdates=false")  # three folders in each worktree less
        git.call("init", "--quiet", "--template=", f"--object-format={kind}")
        git.call("config", "core.bare", "false")
        for name in ("objects/info", "info"):
            (self.seen / name).mkdir(parents=True, exist_ok=True)
        (self.seen / "objects" / "info" / "alternates").write_bytes(_on_one_line(objects.resolve()))
        (self.seen / "info" / "attributes").write_text(_ATTRIBUTES)
        if shallow.exists():
            shutil.copyfile(shallow, self.seen / "shallow")
        tags = origin.git.call("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags/")
        (self.seen / "packed-refs").write_bytes(tags)
        if origin.head:
            git.call("update-ref", f"refs/heads/{origin.head}", origin.commit)
            git.call("symbolic-ref", "HEAD", f"refs/heads/{origin.head}")
        else:
            git.call("update-ref", "--no-deref", "HEAD", origin.commit)


def _on_one_line(path: Path) -> bytes:
    """Return a path as git reads it in a list of paths: quoted if it contains a line feed."""
    name = os.fsencode(path)
    if b"\n" not in name:
        return name + b"\n"
    escaped = name.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"\n'


def _ours(folder: Path, directory: Path) -> Git:
    """Use a repository of devfix's own, with no configuration but its own."""
    environment = {"GIT_DIR": str(directory), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return Git(folder, environment)
