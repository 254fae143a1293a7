"""Edit files in the user's editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from devfix.errors import UserError
from devfix.process.tempdirs import scratch_folder

_USUAL = ("vi", "nano")


def edit_copies(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files (by their paths) after the user has edited copies of them. Raises UserError if that fails."""
    words = _editor()
    with scratch_folder() as folder:
        # A notebook is edited as its script.
        names = {path: Path(path).name.replace(".ipynb", ".ipynb.py") for path in files}
        copies = {path: folder / str(number) / names[path] for number, path in enumerate(files)}
        for path, copy in copies.items():
            copy.parent.mkdir()
            copy.write_bytes(files[path])
        try:
            done = subprocess.run([*words, *map(str, copies.values())])
        except OSError as error:
            raise UserError(f"cannot start the editor {words[0]} ({error.strerror}); set EDITOR") from error
        if done.returncode:
            raise UserError(f"the editor {words[0]} ended with exit code {done.returncode}; nothing was edited")
        return {path: copy.read_bytes() for path, copy in copies.items()}


def _editor() -> list[str]:
    """Return the command of the editor, as git finds it; a repository's configuration is not asked."""
    for name in ("GIT_EDITOR", "VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(name, "")):
            return words
    if found := next(filter(shutil.which, _USUAL), None):
        return [found]
    raise UserError("no editor found; set EDITOR, for example to nano")
