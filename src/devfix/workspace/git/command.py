"""Call git so that a repository's own configuration, hooks and filters cannot run code; the one place that calls it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from devfix.errors import DevfixError, UserError

# Hooks, the file system monitor and automatic maintenance run commands that a repository's configuration names.
_HARMLESS = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false")
# Who signs a commit, and where the user's own configuration lies (with its safe.directory), stay the user's to say.
_KEPT = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_",
)
_DAMAGED = re.compile(rb"is corrupt|inflate:|unable to unpack|not a tree object|unable to read|invalid sha1 pointer")


class GitError(DevfixError):
    """Git failed; `line` is the first line of what it said."""

    def __init__(self, arguments: tuple[str, ...], stderr: bytes) -> None:
        """Keep the call and what git said of it."""
        text = stderr.decode("utf-8", "replace").strip() or "no message"
        self.line = text.splitlines()[0].removeprefix("fatal: ").removeprefix("error: ")
        super().__init__(f"git {' '.join(arguments[:2])}: {text}")


class DamagedError(GitError, UserError):
    """Objects of the repository are lacking or cannot be read."""

    def __init__(self, arguments: tuple[str, ...], stderr: bytes) -> None:
        """Say so in one line."""
        super().__init__(arguments, stderr)
        self.args = (f"the repository is damaged ({self.line}): `git fsck` tells what is lacking",)


class Git:
    """Git in one folder, with a fixed environment and configuration."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str] | None = None, configuration: tuple[str, ...] = ()
    ) -> None:
        """Speak to the repository that `folder` lies in, unless `environment` names another (GIT_DIR)."""
        self.folder, self.given, self.configuration = folder, dict(environment or {}), configuration

    def also(self, *configuration: str, **environment: str) -> Git:
        """Return the same with more configuration ("name=value") and environment."""
        return Git(self.folder, {**self.given, **environment}, (*self.configuration, *configuration))

    def call(self, *arguments: str, given: bytes = b"") -> bytes:
        """Call git with `given` on its standard input and return what it prints; raise GitError when it fails."""
        options = [part for setting in (*_HARMLESS, *self.configuration) for part in ("-c", setting)]
        try:
            done = subprocess.run(
                ["git", "--no-pager", "--literal-pathspecs", *options, *arguments],
                cwd=self.folder,
                env={**_environment(), **self.given},
                input=given,
                capture_output=True,
            )
        except FileNotFoundError as error:
            if not self.folder.is_dir():
                raise UserError(f"{self.folder}: no such folder") from error
            raise UserError("git is not on the PATH: install git 2.30 or newer") from error
        if done.returncode:
            raise (DamagedError if _DAMAGED.search(done.stderr) else GitError)(arguments, done.stderr)
        return done.stdout

    def text(self, *arguments: str, given: bytes = b"") -> str:
        """Do the same and return text without the newline at its end; names that are not UTF-8 keep their bytes."""
        return os.fsdecode(self.call(*arguments, given=given)).removesuffix("\n")

    def says(self, *arguments: str) -> str:
        """Return what git prints, or "" where it fails: for questions whose answer may be no."""
        try:
            return self.text(*arguments)
        except GitError:
            return ""


def _environment() -> dict[str, str]:
    """Return this process's environment without what points git elsewhere (set, for one, when a hook runs devfix)."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    return {
        **kept,
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",  # else `git status` refreshes the user's index
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",  # a partial clone would fetch what is missing, by a command its configuration names
        "GIT_ALLOW_PROTOCOL": "none",  # the same for git older than 2.44
    }
