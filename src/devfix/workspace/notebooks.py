"""Notebooks between the engine and the disk: the engine reads and changes scripts, files hold JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from devfix.errors import DevfixError
from devfix.notebooks.notebook import Notebook, cell_name, changed_cells, is_notebook
from devfix.notebooks.reading import NotebookError

Read = Callable[[str], bytes]  # the bytes of a file at the commit; raises FileNotFoundError for a new one


def as_source(path: str, data: bytes) -> bytes:
    """Return a file as the engine sees it: of a notebook, the script of its cells.

    A notebook that cannot be read stays as it is, and is not editable.
    """
    if not is_notebook(path):
        return data
    try:
        return Notebook(data).script
    except NotebookError:
        return data


def on_disk(files: Mapping[str, bytes], read: Read) -> dict[str, bytes]:
    """Return changed files as they are written: for the script of a notebook, the notebook with those cells."""
    return {path: _notebook(path, data, read) if is_notebook(path) else data for path, data in files.items()}


def _notebook(path: str, script: bytes, read: Read) -> bytes:
    try:
        return Notebook(read(path)).replace_script(script)
    except (NotebookError, FileNotFoundError) as error:
        raise DevfixError(f"{path}: the notebook cannot be changed: {error}") from error


def as_cells(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return files before and after a change with each changed cell of a notebook as a file of its own, for diffs."""
    old, new = dict(before), dict(after)
    for path in [path for path in after if is_notebook(path) and path in before]:
        first, second = old.pop(path), new.pop(path)
        for cell, text, changed in changed_cells(first, second):
            old[cell_name(path, cell)], new[cell_name(path, cell)] = text, changed
    return old, new
