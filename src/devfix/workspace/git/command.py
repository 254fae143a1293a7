"""Call git so that a repository's configuration, hooks and filters cannot run code; the only place that calls it."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import PIPE
from typing import Any

from git import GitCommandNotFound, cmd

from devfix.errors import DevfixError, UserError
from devfix.workspace.git import NO_GIT

# Hooks, the file system monitor and automatic maintenance run commands from a repository's configuration.
_HARMLESS = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false")
# The user's own configuration decides who signs a commit, and has safe.directory; the environment, which certificates
# of servers are trusted.
_KEPT = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_",
    "GIT_SSL_",
    "GIT_PROXY_SSL_",
)
_FIXED = {
    "GIT_OPTIONAL_LOCKS": "0",  # otherwise `git status` refreshes the user's index
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone would fetch missing objects, by a command from its configuration
    "GIT_ALLOW_PROTOCOL": "none",  # the same for git older than 2.44
    "GIT_DEFAULT_REF_FORMAT": "files",  # of repositories that devfix creates: GitPython and the shadow read these files
}
_DAMAGED = re.compile(rb"is corrupt|inflate:|unable to unpack|not a tree object|unable to read|invalid sha1 pointer")


def harmless_command(arguments: Sequence[str]) -> list[str]:
    """Return the command for a call of git that is started below a supervisor."""
    return ["git", "--no-pager", *(word for each in _HARMLESS for word in ("-c", each)), *arguments]


def harmless_environment(network: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for that: this process's own without git's variables that name another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    return {**kept, **_FIXED, **network}


class GitError(DevfixError):
    """Git failed; `line` is the first line of its error."""

    def __init__(self, arguments: tuple[str, ...], stderr: bytes) -> None:
        """Keep the call and git's error."""
        text = stderr.decode("utf-8", "replace").strip() or "no message"
        self.line = text.splitlines()[0].removeprefix("fatal: ").removeprefix("error: ")
        super().__init__(f"git {' '.join(arguments[:2])}: {text}")


class DamagedError(GitError, UserError):
    """Objects of the repository are missing or cannot be read."""

    def __init__(self, arguments: tuple[str, ...], stderr: bytes) -> None:
        """Report it in one line."""
        super().__init__(arguments, stderr)
        self.args = (f"the repository is damaged ({self.line}): `git fsck` lists what is missing",)


class Git(cmd.Git):
    """GitPython's git in one folder, with a fixed environment and configuration."""

    def __init__(
        self,
        working_dir: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
        configuration: tuple[str, ...] = (),
    ) -> None:
        """Use the repository that contains the folder, unless `environment` names another (GIT_DIR)."""
        super().__init__(working_dir)
        self._configuration = configuration
        self._reading = threading.Lock()
        self.update_environment(**{**_FIXED, **(environment or {})})
        self.set_persistent_git_options(no_pager=True, literal_pathspecs=True, c=[*_HARMLESS, *configuration])

    def also(self, *configuration: str, **environment: str) -> Git:
        """Return the same with additional configuration ("name=value") and environment."""
        given = {**self.environment(), **environment}
        return Git(self.working_dir, given, (*self._configuration, *configuration))

    def execute(self, command: str | Sequence[Any], *arguments: Any, **options: Any) -> Any:
        """Start git as GitPython does, without variables that name another repository (set when a hook runs devfix)."""
        folder = self.working_dir or os.curdir
        if not os.access(folder, os.X_OK):  # otherwise GitPython would run git in the current folder
            raise UserError(f"{folder}: {'cannot be entered' if Path(folder).is_dir() else 'no such folder'}")
        misleading = [
            name
            for name in os.environ
            if name.startswith("GIT_") and not name.startswith(_KEPT) and name not in self.environment()
        ]
        # GitPython can add to the environment, but not remove from it; `env` can. It need not be on the PATH.
        dropping = ["/usr/bin/env", *(part for name in misleading for part in ("-u", name))] if misleading else []
        if dropping and shutil.which(str(self.GIT_PYTHON_GIT_EXECUTABLE)) is None:
            raise UserError(NO_GIT)
        try:
            return super().execute([*dropping, *command], *arguments, **options)
        except GitCommandNotFound as error:
            raise UserError(NO_GIT) from error

    def call(self, *arguments: str, given: bytes = b"") -> bytes:
        """Call git with `given` on stdin and return its stdout. Raises GitError if it fails."""
        process = getattr(self, arguments[0])(*arguments[1:], as_process=True, istream=PIPE)
        try:
            stdout, stderr = process.communicate(given)
        except BaseException:
            process.kill()
            raise
        if process.returncode:
            raise (DamagedError if _DAMAGED.search(stderr) else GitError)(arguments, stderr)
        return bytes(stdout)

    def text(self, *arguments: str, given: bytes = b"") -> str:
        """Return stdout as text without the trailing newline; names that are not UTF-8 are surrogate-escaped."""
        return os.fsdecode(self.call(*arguments, given=given)).removesuffix("\n")

    def says(self, *arguments: str) -> str:
        """Return stdout, or "" if git fails: for queries that may have no answer."""
        try:
            return self.text(*arguments)
        except GitError:
            return ""

    def read_blob(self, object_id: str) -> bytes:
        """Return the contents of a file, from one process for all files, open until `clear_cache`."""
        with self._reading:
            try:
                found, kind, size, content = self.get_object_data(object_id)
                if (os.fsdecode(found), os.fsdecode(kind), len(content)) == (object_id, "blob", size):
                    return content
                self.clear_cache()
            except (ValueError, OSError):  # it is missing or damaged, which the call below reports
                self.clear_cache()
            except BaseException:  # interrupted between request and response: the next request would get this response
                self.clear_cache()
                raise
        return self.call("cat-file", "blob", object_id)
