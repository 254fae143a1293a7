"""Files of Git LFS, of which the commit only has pointers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from devfix.workspace.git.command import Git

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
