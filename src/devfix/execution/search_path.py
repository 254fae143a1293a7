"""The search path of a program, with the selected interpreter first."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

_NAMES = ("python", "python3")


def with_interpreter(path: str, python: Path, folder: Path) -> str:
    """Return the search path `path` in which `python` and `python3` are the interpreter `python`.

    If its own folder has other programs of these names, or none, scripts that start it are written into `folder`.
    """
    if _is_found(path, python, _NAMES):
        return path
    beside = os.pathsep.join(filter(None, (str(python.parent), path)))
    lacking = [name for name in _NAMES if not _is_found(beside, python, [name])]
    if not lacking:
        return beside
    folder.mkdir(parents=True, exist_ok=True)
    for name in lacking:
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(str(python))} "$@"\n')
        script.chmod(0o755)
    return f"{folder}{os.pathsep}{beside}"


def _is_found(path: str, python: Path, names: tuple[str, ...] | list[str]) -> bool:
    """Return whether each name is the interpreter itself; a virtual environment's link to it is another one."""
    for name in names:
        found = shutil.which(name, path=path)
        if found is None or Path(found).parent != python.parent or not os.path.samefile(found, python):
            return False
    return True
