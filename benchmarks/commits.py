"""Files of a git repository at a commit: from a local mirror, else from a clone that fetches these alone.

DEVFIX_WILD_MIRRORS names a folder with mirrors, `OWNER/NAME` below it, for machines that reach no other.
"""

from __future__ import annotations

import os
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

# A connection that stands still for a minute has ended.
_PATIENCE = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60")


class NotReachedError(Exception):
    """The repository, or the commit in it, cannot be had from here."""


def files_at(repository: str, commit: str, paths: Sequence[str], folder: Path) -> None:
    """Write files and folders of a commit below a folder, which is made. Raises NotReachedError."""
    mirror = _mirror(repository)
    if mirror is not None:
        _unpack(mirror, commit, paths, folder)
        return
    with tempfile.TemporaryDirectory(prefix="devfix-clone-") as clone:
        _git(*_PATIENCE, "clone", "--quiet", "--bare", "--filter=blob:none", repository, clone)
        _unpack(Path(clone), commit, paths, folder)


def _mirror(repository: str) -> Path | None:
    """The local mirror of a repository, None where there is none."""
    mirrors = os.environ.get("DEVFIX_WILD_MIRRORS")
    found = Path(mirrors, urlsplit(repository).path.strip("/").removesuffix(".git")) if mirrors else None
    return found if found is not None and found.is_dir() else None


def _unpack(clone: Path, commit: str, paths: Sequence[str], folder: Path) -> None:
    archive = _git(*_PATIENCE, "-C", str(clone), "archive", "--format=tar", commit, "--", *paths)
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        for member in files:
            if member.isfile() and (folder / member.name).resolve().is_relative_to(folder.resolve()):
                target, content = folder / member.name, files.extractfile(member)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.read() if content is not None else b"")


def _git(*arguments: str) -> bytes:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(("git", *arguments), capture_output=True, stdin=subprocess.DEVNULL, env=environment)
    if done.returncode:
        raise NotReachedError(done.stderr.decode("utf-8", "replace").strip().partition("\n")[0])
    return done.stdout
