"""Edits of files that jupytext keeps in step: what changes in one changes in the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from posixpath import basename, dirname, join
from typing import Any

from devfix.model import Edit
from devfix.notebooks.notebook import is_notebook
from devfix.notebooks.pairs import CONFIGURATIONS, formats_of, notebook_script_after, partner, script_after
from devfix.notes import Notes
from devfix.source.text import first_difference

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Read = Callable[[str], "bytes | None"]
Search = Callable[[Sequence[str]], Iterable[str]]


def with_pairs(edits: tuple[Edit, ...], read: Read, search: Search, notes: Notes) -> tuple[Edit, ...]:
    """Return edits with those of the paired files; a pair that is not in step gets a note, and stays as it is."""
    added = []
    for edit in edits:
        for path in _partners(edit.path, read, search):
            before = read(path)
            if before is None or any(path == each.path for each in edits):
                continue
            follow = script_after if is_notebook(edit.path) else notebook_script_after
            after = follow(edit.before, edit.after, before)
            if after is None or after == before:
                notes.add(f"{path}, paired with {edit.path} by jupytext, has other lines there and is not changed")
            else:
                added.append(Edit(path, first_difference(before, after), before, after))
    return (*edits, *added)


def _partners(path: str, read: Read, search: Search) -> list[str]:
    """Return the file that is paired with one; an empty list without one."""
    if path.endswith(".py"):
        found = partner(path, formats_of(read(path), _configuration(path, read)))
        return [found] if found else []
    if not is_notebook(path):
        return []
    name = basename(path).removesuffix(".ipynb") + ".py"
    scripts = [each for each in search(["formats:"]) if basename(each) == name]
    if paired := [each for each in scripts if partner(each, formats_of(read(each), {})) == path]:
        return paired
    by_file = partner(path, formats_of(None, _configuration(path, read)))
    return [by_file] if by_file else []


def _configuration(path: str, read: Read) -> dict[str, Any]:
    """Return jupytext's configuration for a file: that of its folder or of the nearest one above."""
    folder = path
    while folder:
        folder = dirname(folder)
        for name in CONFIGURATIONS:
            data = read(join(folder, name))
            if data is not None:
                try:
                    return tomllib.loads(data.decode("utf-8"))
                except (tomllib.TOMLDecodeError, UnicodeDecodeError):
                    return {}
    return {}
