"""Real git repositories for tests, and what must be the same in them before and after."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_PERSON = {"NAME": "Ada", "EMAIL": "ada@example.org"}


def git(folder: Path, *arguments: str) -> str:
    """Call git as a user would, with an identity of its own and without the machine's configuration."""
    identity = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
    person = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _PERSON.items()}
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env={**os.environ, **identity, **person},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "replace").strip()


def make_repository(folder: Path, files: Mapping[str, bytes | str]) -> Path:
    """Make a repository with one commit of these files."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    write(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=start")
    return folder


def write(folder: Path, files: Mapping[str, bytes | str]) -> frozenset[str]:
    """Write files below the folder, and return their names."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return frozenset(files)


def fingerprint(folder: Path) -> dict[str, tuple[int, str]]:
    """Return mode and digest of every file, link and folder, those of `.git` (index, configuration, refs) included."""
    found = {}
    for inner, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(inner) / name
            content = path.read_bytes() if path.is_file() else b""
            kept = os.readlink(path).encode() if path.is_symlink() else content
            found[str(path.relative_to(folder))] = (path.lstat().st_mode, hashlib.sha1(kept).hexdigest())
    return found


def git_in(folder: Path, *arguments: str) -> str:
    """Call git as the program would, with what it sees in its worktree."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.check_output(["git", *arguments], cwd=folder, env=environment, text=True).strip()
