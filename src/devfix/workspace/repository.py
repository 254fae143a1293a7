"""The user's repository, to which only a finished branch is added; nothing else in it changes."""

from __future__ import annotations

import contextlib
import copy
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from devfix.errors import UserError
from devfix.process.tempdirs import scratch_folder
from devfix.workspace.git.command import DamagedError, Git, GitError
from devfix.workspace.git.trees import REGULAR, SUBMODULE, Entry, list_commit
from devfix.workspace.notebooks import as_source
from devfix.workspace.worktrees.pool import Worktrees
from devfix.workspace.worktrees.shadow import Origin

_ROOM = 100_000  # bytes; with less space free, that is why git fails, whatever it reports


class Repository:
    """A git repository at one commit; created by `Repository.open`."""

    def __init__(self, root: Path, subfolder: str) -> None:
        """Take the root of a working tree; use `open`, which checks it."""
        self.root, self.subfolder = root, subfolder
        self._containing: dict[tuple[str, ...], tuple[str, ...]] = {}  # found paths, by a commit and texts
        plain = Git(root)
        self.git = plain.also(*_filters_off(plain))
        try:
            self.commit = self.git.text("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        except GitError as error:
            if known := self.git.says("rev-parse", "--verify", "--quiet", "HEAD"):
                raise DamagedError(("rev-parse",), f"no commit {known}".encode()) from error
            raise UserError(f"{root}: the repository has no commit yet; commit your work first") from error
        self.head = self.git.says("symbolic-ref", "--quiet", "--short", "HEAD") or None

    @classmethod
    def open(cls, path: Path) -> Repository:
        """Open the repository that contains `path` (a folder). Raises UserError if there is no usable one."""
        if not path.exists():
            raise UserError(f"{path}: no such folder")
        if not path.is_dir():
            raise UserError(f"{path}: not a folder; give the repository or a folder of it")
        path = path.resolve()
        git = Git(path)
        try:
            bare, inside = git.text("rev-parse", "--is-bare-repository", "--is-inside-git-dir").split("\n")
            if bare == "true" or inside == "true":
                raise UserError(f"{path}: a bare repository has no files to run; give a clone with a working tree")
            root = Path(git.text("rev-parse", "--show-toplevel"))
        except GitError as error:
            raise UserError(_why_not(path, error)) from error
        if not path.is_relative_to(root):
            raise UserError(f"{path}: not in the working tree of its repository, which is {root}")
        repository = cls(root, "" if path == root else path.relative_to(root).as_posix())
        below = f"{repository.subfolder}/"
        if repository.subfolder and not any(tracked.startswith(below) for tracked in repository.entries):
            raise UserError(f"{path}: nothing in this folder is committed; commit it first")
        return repository

    def at(self, commit: str) -> Repository:
        """Return the repository at another commit; its branches and files are the same."""
        other = copy.copy(self)
        other.__dict__.pop("entries", None)
        other.commit = commit
        return other

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Return every path at the commit, from the root of the repository."""
        return list_commit(self.git, self.commit)

    def tracked_paths(self) -> frozenset[str]:
        """Return the paths of the regular files at the commit: no symbolic links, no submodules."""
        return frozenset(path for path, entry in self.entries.items() if entry.mode in REGULAR)

    def submodules(self) -> tuple[str, ...]:
        """Return the paths of the submodules at the commit."""
        return tuple(path for path, entry in self.entries.items() if entry.mode == SUBMODULE)

    def content(self, path: str) -> bytes:
        """Return a file as it is at the commit, a notebook as its script. Raises FileNotFoundError if there is none."""
        return as_source(path, self.blob(path))

    def content_if_any(self, path: str) -> bytes | None:
        """Return a file as it is at the commit, a notebook as its script; None if there is none.

        A tensor may be made in a file of a library: `copy.deepcopy` makes those of a plain object.
        """
        try:
            return self.content(path)
        except FileNotFoundError:
            return None

    def blob(self, path: str) -> bytes:
        """Return the bytes of a file at the commit. Raises FileNotFoundError if there is none."""
        entry = self.entries.get(path)
        if entry is None or entry.mode == SUBMODULE:
            raise FileNotFoundError(path)
        return self.git.read_blob(entry.object_id)

    def containing(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return the paths of the text files that contain, at the commit, one of the texts in a line.

        Each answer is kept: git takes 0.1 s for one in botorch, and the checks of a candidate ask for the same texts.
        """
        key = (self.commit, *texts)
        if key not in self._containing:
            patterns = [part for text in texts for part in ("-e", text)]
            options = ("--full-name", "--fixed-strings", "-l", "-I", "-z")
            said = self.git.says("grep", *options, *patterns, self.commit) if patterns else ""
            self._containing[key] = tuple(path.partition(":")[2] for path in said.split("\0") if path)
        return self._containing[key]

    def ignores(self, path: str) -> bool:
        """Return whether git ignores a new file at that path."""
        return bool(self.git.says("check-ignore", "--no-index", path))

    @cached_property
    def _status(self) -> tuple[tuple[str, str], ...]:
        """Git's status of the working tree: pairs of a two-letter state and a path ("!!" is ignored)."""
        listed = os.fsdecode(
            self.git.call(
                *("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal"),
                *("--ignored=traditional", "--ignore-submodules=dirty"),
            )
        )
        return tuple((record[:2], record[3:]) for record in listed.split("\0") if record)

    @property
    def dirty(self) -> tuple[str, ...]:
        """The paths with uncommitted changes, including untracked files."""
        return tuple(sorted(path for state, path in self._status if state != "!!"))

    @property
    def ignored(self) -> tuple[str, ...]:
        """The paths that git ignores; a folder ends in "/" and stands for everything in it."""
        return tuple(sorted(path for state, path in self._status if state == "!!"))

    def patches(self, commits: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield a file name and the content for each commit, as `git am` takes them."""
        for number, commit in enumerate(commits, 1):
            subject = self.git.text("show", "--no-patch", "--format=%f", commit)[:60].strip("-.") or "fix"
            patch = self.git.call("format-patch", "--stdout", "--no-signature", "--no-renames", "-1", commit)
            yield f"{number:04}-{subject}.patch", patch

    def branch_exists(self, name: str) -> bool:
        """Return whether the repository has a branch of that name."""
        return bool(self.git.says("rev-parse", "--verify", "--quiet", f"refs/heads/{name}"))

    def check_branch(self, name: str) -> None:
        """Raise UserError if a branch of that name cannot be created: invalid, taken, or in conflict with another."""
        if not self.git.says("check-ref-format", "--branch", name) or name.startswith("-"):
            raise UserError(f"--branch {name}: not a name that git allows for a branch")
        if self.branch_exists(name):
            raise UserError(f"--branch {name}: the branch exists; name another or delete it: git branch -D {name}")
        parts = name.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts))]
        if taken := next(filter(self.branch_exists, above), None):
            raise UserError(f"--branch {name}: git cannot make it beside the branch {taken}; name another")
        if below := self.git.says("for-each-ref", "--count=1", "--format=%(refname:short)", f"refs/heads/{name}/"):
            raise UserError(f"--branch {name}: git cannot make it beside the branch {below}; name another")

    def rename_branch(self, name: str, new: str) -> str:
        """Give a branch another name, or the next free one (`-2`, `-3`, …), and return that."""
        free, number = new, 1
        while self.branch_exists(free):
            number += 1
            free = f"{new}-{number}"
        self.git.call("branch", "--move", name, free)
        return free

    def delete_branch(self, name: str) -> None:
        """Delete a branch; what another one holds stays."""
        self.git.call("branch", "--delete", "--force", name)

    @contextlib.contextmanager
    def worktrees(self, count: int) -> Iterator[Worktrees]:
        """Provide up to `count` worktrees at the commit, outside of the repository; all are removed afterwards."""
        origin = Origin(self.root, self.commit, self.head, self.git, self.entries, self.ignored, self.submodules())
        with scratch_folder() as folder:
            try:
                yield Worktrees(origin, folder, count)
            except (OSError, GitError) as error:
                if isinstance(error, GitError) and (said := self._lacking(error)):
                    raise UserError(said) from error
                if shutil.disk_usage(folder).free >= _ROOM:
                    raise
                where = folder.parent
                said = f"No space left on device for temporary files in {where}: free some, or set TMPDIR"
                raise UserError(said) from error
            finally:
                self.git.clear_cache()

    def _lacking(self, error: GitError) -> str:
        """Return what to do if git lacks a file of the commit; "" for another error."""
        if not re.search(
            r"unable to read sha1 file|cannot read object|missing blob|bad (object|file)|could not get object info",
            str(error),
        ):
            return ""
        lacks = f"{self.root}: git lacks files of the commit ({error.line[:200]})"
        if self.git.says("config", "--get-regexp", r"^remote\..*\.promisor$"):
            return f"{lacks}: it is a partial clone; fetch them: git fetch --refetch --no-filter"
        return f"{lacks}: git fsck shows more"


def _filters_off(git: Git) -> Iterator[str]:
    """Yield settings that disable each configured filter, since filters are commands."""
    names = git.says("config", "--name-only", "--null", "--get-regexp", r"^filter\..*\.")
    for name in {key.rpartition(".")[0] for key in names.split("\0") if key}:
        yield from (f"{name}.clean=", f"{name}.smudge=", f"{name}.process=", f"{name}.required=false")


def _why_not(path: Path, error: GitError) -> str:
    if "dubious ownership" in str(error) or "unsafe repository" in str(error):
        where = re.search(r"repository (?:at )?'([^']+)'", str(error))
        named = where[1] if where else str(path)
        return f"{named}: belongs to another user; to trust it: git config --global --add safe.directory '{named}'"
    if "not a git repository" in str(error):
        return f"{path}: not in a git repository; make it one: git init && git add -A && git commit -m start"
    return f"{path}: git cannot read the repository: {error.line}"
