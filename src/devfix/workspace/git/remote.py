"""Read and push to a remote repository from an empty local one, without any checkout's configuration."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from git import Actor, Blob, Tree

from devfix.errors import UserError
from devfix.process.tempdirs import scratch_folder
from devfix.workspace.git.command import Git, GitError
from devfix.workspace.git.file_changes import CommitChanges, file_changes
from devfix.workspace.git.identity import as_author, find_person
from devfix.workspace.git.network import UnreachableError, patiently, settings
from devfix.workspace.git.objects import BareRepo
from devfix.workspace.git.signature import add_seal, is_sealed, remove_seal
from devfix.workspace.git.trees import write_tree

DEPTH = 50  # commits of the base to fetch: with the repaired one, and to see the style of messages


class Remote:
    """Created by `Remote.open`; commits and files are available after `base` has fetched them."""

    def __init__(self, address: str, folder: Path, token: str | None, advice: str) -> None:
        """Create the empty repository below `folder`; the token is sent to the address only, never as argument."""
        self.address, self._folder, self._advice = address, folder, advice
        self._repo = BareRepo.make(folder / "objects")
        self._git = self._repo.git
        self._net: dict[str, str] = settings(address, token)

    @classmethod
    @contextlib.contextmanager
    def open(
        cls, address: str, token: str | None = None, advice: str = "give a token that may write"
    ) -> Iterator[Remote]:
        """Open the repository at an address (https, ssh, a path); fetched objects are removed afterwards.

        `advice` is what an error says to do if access is denied.
        """
        with scratch_folder() as folder:
            remote = cls(address, folder, token, advice)
            with contextlib.closing(remote._repo):
                yield remote

    def default_branch(self) -> str:
        """Return the branch of the remote's HEAD."""
        for line in self._call(self._git, "ls-remote", "--symref", self.address, "HEAD").split("\n"):
            if line.startswith("ref: refs/heads/"):
                return line.removeprefix("ref: refs/heads/").split("\t")[0]
        raise UserError(f"{self.address}: does not say which branch is its default; name one with --base")

    def is_branch_name(self, name: str) -> bool:
        """Return whether git allows a branch of that name."""
        return not name.startswith("-") and bool(self._git.says("check-ref-format", "--branch", name))

    def branches(self, *patterns: str) -> dict[str, str]:
        """Return branches (patterns with `*`) and their commits."""
        full = [f"refs/heads/{pattern}" for pattern in patterns]
        listed = self._call(self._git, "ls-remote", self.address, *full)
        rows = [line.split("\t") for line in listed.split("\n") if line]
        return {name.removeprefix("refs/heads/"): commit for commit, name in rows if name.startswith("refs/heads/")}

    def base(self, branch: str, commit: str) -> None:
        """Fetch a branch's last commits and `commit`. Raises UserError if the branch does not contain that commit.

        GitHub serves any commit of any fork under the address of the original, so that fetching it proves nothing.
        """
        wanted = f"+refs/heads/{branch}:refs/devfix/base"
        try:
            self._fetch(self._git, f"--depth={DEPTH}", wanted)
        except UnreachableError:
            raise
        except GitError as error:
            raise UserError(f"{self.address}: no branch {branch} ({error.line}); name another with --base") from error
        if self._has("refs/devfix/base", commit, self._git):
            return
        history = BareRepo.make(self._folder / "history").git
        self._fetch(history, "--filter=tree:0", wanted)
        if not self._has("refs/devfix/base", commit, history):
            raise UserError(
                f"commit {commit} is not on the branch {branch} of {self.address}: push it there, or find again"
            )
        self._fetch(self._git, "--depth=1", commit)

    def commit_alone(self, commit: str) -> None:
        """Fetch a commit and those before it, from whichever branch. Raises UserError if the remote has none such."""
        try:
            self._fetch(self._git, f"--depth={DEPTH}", f"+{commit}:refs/devfix/base")
        except UnreachableError:
            raise
        except GitError as error:
            raise UserError(
                f"{self.address}: no commit {commit} ({error.line}); name a --remote that has it"
            ) from error

    def subjects(self) -> list[str]:
        """Return the subjects of the last commits of the base, newest first."""
        return self._git.text("log", "--format=%s", "--no-merges", f"-{DEPTH}", "refs/devfix/base").split("\n")

    def content(self, commit: str, path: str) -> bytes:
        """Return a regular file at a commit. Raises UserError if there is none at that path."""
        entry = self._repo.find(commit, path)
        if not isinstance(entry, Blob) or entry.mode not in (Blob.file_mode, Blob.executable_mode):
            raise UserError(f"{path}: no regular file at commit {commit}; the report is about something else")
        return self._git.read_blob(entry.hexsha)

    def is_free(self, commit: str, path: str) -> bool:
        """Return whether a new file can be added to a commit at that path: it is free, and its parents are folders."""
        parts = path.split("/")
        above = (self._repo.find(commit, "/".join(parts[:count])) for count in range(1, len(parts)))
        return self._repo.find(commit, path) is None and all(each is None or isinstance(each, Tree) for each in above)

    def commits(self, parent: str, steps: Sequence[tuple[Mapping[str, bytes], str]], person: Actor) -> str:
        """Create a commit for each step (changed files, message) and return the last; equal steps have equal ids."""
        author = as_author(person, f"{self._repo.commit(parent).committed_date} +0000")
        git = self._git.also(GIT_INDEX_FILE=str(self._folder / "index"), **author)
        mode_of = partial(self._mode_of, parent)
        for files, message in steps:
            tree = write_tree(git, parent, files, mode_of)
            text = add_seal(message, tree, parent).encode("utf-8", "surrogateescape")
            parent = git.text("commit-tree", tree, "-p", parent, "-F", "-", given=text)
        return parent

    def _mode_of(self, commit: str, path: str) -> str | None:
        entry = self._repo.find(commit, path)
        return f"{entry.mode:06o}" if entry else None

    def commit_changes(self, base: str, tip: str) -> Iterator[CommitChanges]:
        """Yield the commits after `base` up to `tip`, which `commits` has created, the oldest first."""
        for commit in self._git.text("rev-list", "--reverse", "--first-parent", f"{base}..{tip}").split():
            found = self._repo.commit(commit)
            files = tuple(file_changes(self._git, found.parents[0].hexsha, commit))
            yield CommitChanges(found.tree.hexsha, remove_seal(str(found.message)), files)

    @staticmethod
    def seal(commit: CommitChanges, parent: str) -> str:
        """Return the message of a commit, sealed for a parent."""
        return add_seal(commit.message, commit.tree, parent)

    def created_by(self, commit: str, tree: str, parent: str) -> bool:
        """Fetch a commit, and return whether it has this tree and parent, and a message that devfix has sealed."""
        self._fetch(self._git, "--depth=1", commit)
        found = self._repo.commit(commit)
        is_right = found.tree.hexsha == tree and f"parent {parent}".encode() in found.data_stream.read().split(b"\n")
        return is_right and is_sealed(found.data_stream.read())

    def diff(self, old: str, new: str) -> str:
        """Return the changes between two commits as git prints them."""
        return self._git.call("diff-tree", "-p", "--no-renames", "--text", old, new).decode("utf-8", "surrogateescape")

    def format_patches(self, old: str, new: str, folder: Path) -> None:
        """Write the commits between two as mails for `git am` to a folder."""
        self._git.call(
            "format-patch",
            "--quiet",
            "--no-renames",
            "--full-index",
            "--binary",
            "--no-signature",
            "--numbered",
            "--output-directory",
            str(folder.absolute()),
            f"{old}..{new}",
        )

    def is_ours(self, commit: str) -> bool:
        """Return whether the tip of a branch, and everything between it and the base, was pushed by devfix."""
        # In a separate repository: a shallow fetch would truncate the history to be pushed.
        with contextlib.closing(BareRepo.make(self._folder / "tips")) as tips:
            self._fetch(tips.git, "--depth=1", commit)
            return is_sealed(tips.commit(commit).data_stream.read())

    def push(self, branch: str, commit: str, expected: str) -> bool:
        """Set a branch to a commit if it is still at `expected` ("" if it does not exist); return False if not."""
        lease = f"--force-with-lease=refs/heads/{branch}:{expected}"
        target = f"{commit}:refs/heads/{branch}"
        try:
            self._call(self._git, "push", "--quiet", "--no-verify", "--no-follow-tags", lease, self.address, target)
        except GitError as error:
            if self.branches(branch).get(branch) == commit:  # the push succeeded, and the response was lost
                return True
            if "stale info" in str(error) or "already exists" in str(error):
                return False
            raise UserError(f"{self.address}: the branch {branch} cannot be pushed: {_refusal(error)}") from error
        return True

    def delete(self, branch: str, expected: str) -> bool:
        """Delete a branch if it is still at `expected`; return False if it has moved, and True if it is gone."""
        lease = f"--force-with-lease=refs/heads/{branch}:{expected}"
        try:
            self._call(self._git, "push", "--quiet", "--no-verify", lease, self.address, f":refs/heads/{branch}")
        except GitError as error:
            if "stale info" in str(error):
                return branch not in self.branches(branch)
            raise UserError(f"{self.address}: the branch {branch} cannot be deleted: {_refusal(error)}") from error
        return True

    def _fetch(self, git: Git, *arguments: str) -> None:
        self._call(git, "fetch", "--quiet", "--no-tags", *arguments[:-1], self.address, arguments[-1])

    def _has(self, branch: str, commit: str, git: Git) -> bool:
        try:
            git.call("merge-base", "--is-ancestor", commit, branch)
        except GitError:
            return False
        return True

    def _call(self, git: Git, *arguments: str) -> str:
        return patiently(lambda: git.also(**self._net).text(*arguments), self.address, self._advice)


def _refusal(error: GitError) -> str:
    """Return what the server said of a push, such as the rules of the repository that are in its way (GH013)."""
    lines = str(error).partition(": ")[2].splitlines()
    said = [line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:")]
    return " ".join(filter(None, said))[:500] or error.line


def remote_address(folder: Path, name: str) -> str:
    """Return the address of a remote of the repository at `folder`. Raises UserError if there is none of that name."""
    try:
        return Git(folder).text("remote", "get-url", "--", name)
    except GitError as error:
        raise UserError(f"--remote {name}: no remote of that name here ({error.line}); give an address") from error


def repository_address(folder: Path) -> str:
    """Return the root of the repository at `folder`, as an address. Raises UserError if there is none."""
    try:
        return Git(folder).text("rev-parse", "--show-toplevel")
    except GitError as error:
        raise UserError(f"no repository here ({error.line}); name one with --remote") from error


def person(folder: Path) -> Actor:
    """Return the name and address under which commits are made at `folder`."""
    return find_person(Git(folder), {})
