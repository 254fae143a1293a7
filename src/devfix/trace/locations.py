"""Make the paths of a trace relative to the worktree if they are in the repository, and name cells of notebooks."""

from __future__ import annotations

import operator
import os
import re
import stat
from dataclasses import is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

from devfix.model import SourceLocation
from devfix.notebooks.notebook import CellPlace, Notebook, is_notebook
from devfix.notebooks.reading import NotebookError

Record = TypeVar("Record")
_LARGEST = 200_000_000  # bytes of a notebook, most of them outputs
_PLAIN = frozenset({str, int, float, bool, type(None)})  # most values of a trace, which contain no location


class Locations:
    """Decides which files are the repository's: those in `owned` that are among `tracked`.

    With `tracked` None, every file in `owned` counts, except those of virtual environments.
    """

    def __init__(self, owned: Path, tracked: frozenset[str] | None) -> None:
        self.owned = os.path.realpath(owned) + os.sep
        self._tracked = tracked
        self._places: dict[SourceLocation, SourceLocation] = {}
        self._relative = cache(self._relative_to_owned)
        self._notebook = cache(_notebook)

    def relocate(self, record: Record) -> Record:
        """Return a record in which every owned source location is relative to the repository and marked as owned."""
        kind = type(record)
        if kind in _PLAIN:
            return record
        if isinstance(record, SourceLocation):
            return cast("Record", self._relocate(record))
        if isinstance(record, tuple):
            items = tuple(map(self.relocate, record))
            same = all(map(operator.is_, items, record))
            return record if same else cast("Record", items)
        if not is_dataclass(record) or isinstance(record, type):
            return record
        changed = {name: new for name, old in vars(record).items() if (new := self.relocate(old)) is not old}
        return replace(record, **changed) if changed else record

    def _relocate(self, place: SourceLocation) -> SourceLocation:
        known = self._places.get(place)
        if known is None:  # a trace names few locations, most of them often
            path, owned = self._relative(place.path)
            known = replace(place, path=path, owned=owned, line=max(1, place.line), cell=0, cell_start=0)
            self._places[place] = known = self._in_cell(known)
        return known

    def _in_cell(self, place: SourceLocation) -> SourceLocation:
        """Return a location with its cell, if it is in a notebook of the repository."""
        found = self.cell_at(place.path, place.line) if place.owned and is_notebook(place.path) else None
        return replace(place, cell=found.cell, cell_start=found.start) if found is not None else place

    def cell_at(self, path: str, line: int) -> CellPlace | None:
        """Return the cell with a line of the script of a notebook; None for another file, or one that is gone."""
        notebook = self._notebook(os.path.join(self.owned, path))
        return notebook.place(line) if notebook is not None else None

    def _relative_to_owned(self, path: str) -> tuple[str, bool]:
        real = os.path.realpath(path) if os.path.isabs(path) and "\0" not in path else path
        if not real.startswith(self.owned):
            return path, False
        relative = real[len(self.owned) :].replace(os.sep, "/")
        foreign = "/site-packages/" in f"/{relative}" if self._tracked is None else relative not in self._tracked
        return (path, False) if foreign else (relative, True)


def _notebook(path: str) -> Notebook | None:
    """Read a notebook of the tree in which the program ran, which may have changed it."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return None
        return Notebook(Path(path).read_bytes())
    except (OSError, NotebookError):
        return None


_FRAME = re.compile(r'  File "(?P<path>[^"\n]*\.ipynb)", line (?P<line>\d{1,9})')
_HEAD = re.compile(r"(?m)^Traceback \(most recent call last\):\n")
_FOREIGN = re.compile(r'(?m)^  File "[^"\n]*"')


def named_cells(traceback: str, locations: Locations) -> str:
    """Return a traceback whose frames in notebooks are those of cells: `File "ch02.ipynb[cell 7]", line 3`."""
    if ".ipynb" not in traceback:
        return traceback

    def named(found: re.Match[str]) -> str:
        line = int(found["line"])
        relative = os.path.relpath(os.path.realpath(found["path"]), locations.owned)
        place = locations.cell_at(relative, line)
        return found[0] if place is None else f'  File "{found["path"]}[cell {place.cell}]", line {line - place.start}'

    return _FRAME.sub(named, _without_kernel(traceback))


def _without_kernel(traceback: str) -> str:
    """Return a traceback in which each part begins with the first frame of a notebook, if it has one."""
    heads = list(_HEAD.finditer(traceback))
    ends = [*(head.start() for head in heads[1:]), len(traceback)]
    parts = [traceback[: heads[0].start()] if heads else traceback]
    for head, end in zip(heads, ends, strict=True):
        body = traceback[head.end() : end]
        first = _FRAME.search(body)
        begins = first is not None and _FOREIGN.match(body) is not None
        parts += [head[0], body[first.start() :] if first is not None and begins else body]
    return "".join(parts)
