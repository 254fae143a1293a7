"""A repository elsewhere: read and pushed to from an empty one of our own, so that no checkout has a say in it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from devfix.errors import UserError
from devfix.process.tempdirs import scratch_folder
from devfix.workspace.git.command import Git, GitError
from devfix.workspace.git.listing import REGULAR, Entry, list_commit
from devfix.workspace.git.network import patiently, settings
from devfix.workspace.git.signature import is_sealed, sealed

DEPTH = 50  # commits of the base that are fetched: the repair was at one of the last, and the others show its manner


class Remote:
    """Made by `Remote.open`; commits and files are known after `base` has fetched them."""

    def __init__(self, address: str, folder: Path, token: str | None) -> None:
        """Make the empty repository below `folder`; the token goes to the address alone, and into no argument."""
        self.address, self._folder = address, folder
        self._git = self._new("objects")
        self._net: dict[str, str] = settings(address, token)
        self._entries: dict[str, dict[str, Entry]] = {}

    @classmethod
    @contextlib.contextmanager
    def open(cls, address: str, token: str | None = None) -> Iterator[Remote]:
        """Speak to the repository at an address (https, ssh, a path); what is fetched is gone afterwards."""
        with scratch_folder() as folder:
            yield cls(address, folder, token)

    def default_branch(self) -> str:
        """Return the branch that the remote's HEAD stands on."""
        for line in self._call(self._git, "ls-remote", "--symref", self.address, "HEAD").split("\n"):
            if line.startswith("ref: refs/heads/"):
                return line.removeprefix("ref: refs/heads/").split("\t")[0]
        raise UserError(f"{self.address}: does not say which branch is its default; name one with --base")

    def is_branch_name(self, name: str) -> bool:
        """Say whether git allows a branch of that name."""
        return not name.startswith("-") and bool(self._git.says("check-ref-format", "--branch", name))

    def branches(self, *patterns: str) -> dict[str, str]:
        """Return branches (names with `*`) and the commits they stand at."""
        full = [f"refs/heads/{pattern}" for pattern in patterns]
        listed = self._call(self._git, "ls-remote", self.address, *full)
        rows = [line.split("\t") for line in listed.split("\n") if line]
        return {name.removeprefix("refs/heads/"): commit for commit, name in rows if name.startswith("refs/heads/")}

    def base(self, branch: str, commit: str) -> None:
        """Fetch a branch's last commits and `commit`; UserError where the branch does not have that commit.

        GitHub gives any commit of any fork under the address of the original, so that being there proves nothing.
        """
        wanted = f"+refs/heads/{branch}:refs/devfix/base"
        try:
            self._fetch(self._git, f"--depth={DEPTH}", wanted)
        except GitError as error:
            raise UserError(f"{self.address}: no branch {branch} ({error.line}); name another with --base") from error
        if self._has("refs/devfix/base", commit, self._git):
            return
        history = self._new("history")
        self._fetch(history, "--filter=tree:0", wanted)
        if not self._has("refs/devfix/base", commit, history):
            raise UserError(
                f"commit {commit} is not on the branch {branch} of {self.address}: push it there, or find again"
            )
        self._fetch(self._git, "--depth=1", commit)

    def subjects(self) -> list[str]:
        """Return the subjects of the last commits of the base, newest first."""
        return self._git.text("log", "--format=%s", "--no-merges", f"-{DEPTH}", "refs/devfix/base").split("\n")

    def content(self, commit: str, path: str) -> bytes:
        """Return a regular file at a commit; UserError where there is none of that path."""
        entry = self._listed(commit).get(path)
        if entry is None or entry.mode not in REGULAR:
            raise UserError(f"{path}: no regular file at commit {commit}; the report is about something else")
        return self._git.call("cat-file", "blob", entry.object_id)

    def is_free(self, commit: str, path: str) -> bool:
        """Say whether a new file of that path fits into a commit: nothing is there, and every folder above is one."""
        entries = self._listed(commit)
        parts = path.split("/")
        above = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
        return not any(each in entries for each in above) and not any(each.startswith(f"{path}/") for each in entries)

    def _listed(self, commit: str) -> dict[str, Entry]:
        entries = self._entries.setdefault(commit, {})
        if not entries:
            entries.update(list_commit(self._git, commit))
        return entries

    def commits(self, parent: str, steps: Sequence[tuple[Mapping[str, bytes], str]], person: tuple[str, str]) -> str:
        """Make a commit for each step (changed files, message) and return the last; the same steps give the same id."""
        moment = self._git.text("show", "--no-patch", "--format=%ct +0000", parent)
        people = {
            f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in _fields(person, moment)
        }
        git = self._git.also(GIT_INDEX_FILE=str(self._folder / "index"), **people)
        modes = {path: entry.mode for path, entry in list_commit(git, parent).items()}
        for files, message in steps:
            git.call("read-tree", parent)
            rows = []
            for path, content in files.items():
                blob = git.text("hash-object", "-w", "--no-filters", "--stdin", given=content)
                rows.append(f"{modes.get(path, '100644')} {blob}\t{path}\0")
            git.call("update-index", "-z", "--index-info", given=os.fsencode("".join(rows)))
            tree = git.text("write-tree")
            text = sealed(message, tree, parent).encode("utf-8", "surrogateescape")
            parent = git.text("commit-tree", tree, "-p", parent, "-F", "-", given=text)
        return parent

    def diff(self, old: str, new: str) -> str:
        """Return the changes between two commits as git prints them."""
        return self._git.call("diff-tree", "-p", "--no-renames", "--text", old, new).decode("utf-8", "surrogateescape")

    def is_ours(self, commit: str) -> bool:
        """Say whether the tip of a branch, with all below it down to the base, is what devfix pushed."""
        # Apart from the base: a shallow fetch would cut the history of what is to be pushed.
        tips = self._new("tips")
        self._fetch(tips, "--depth=1", commit)
        return is_sealed(tips.call("cat-file", "commit", commit))

    def push(self, branch: str, commit: str, expected: str) -> bool:
        """Put a branch at a commit if it still stands at `expected` ("" for nowhere); False where it does not."""
        lease = f"--force-with-lease=refs/heads/{branch}:{expected}"
        target = f"{commit}:refs/heads/{branch}"
        try:
            self._call(self._git, "push", "--quiet", "--no-verify", "--no-follow-tags", lease, self.address, target)
        except GitError as error:
            if self.branches(branch).get(branch) == commit:  # it arrived, and the answer was lost
                return True
            if "stale info" in str(error) or "already exists" in str(error):
                return False
            raise UserError(f"{self.address}: the branch {branch} cannot be pushed: {error.line}") from error
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
        return patiently(lambda: git.also(**self._net).text(*arguments), self.address)

    def _new(self, name: str) -> Git:
        git = Git(self._folder, {"GIT_DIR": str(self._folder / name)})
        git.call("init", "--quiet", "--bare", "--template=")
        return git


def _fields(person: tuple[str, str], moment: str) -> tuple[tuple[str, str], ...]:
    return ("NAME", person[0]), ("EMAIL", person[1]), ("DATE", moment)


def remote_address(folder: Path, name: str) -> str:
    """Return the address of a remote of the repository at `folder`; UserError where it has none of that name."""
    try:
        return Git(folder).text("remote", "get-url", "--", name)
    except GitError as error:
        raise UserError(f"--remote {name}: no remote of that name here ({error.line}); give an address") from error


def person(folder: Path) -> tuple[str, str]:
    """Return the name and address under which commits are made at `folder`."""
    git = Git(folder)
    name, email = git.says("config", "user.name"), git.says("config", "user.email")
    return (name, email) if name and email else ("devfix", "devfix@localhost")
