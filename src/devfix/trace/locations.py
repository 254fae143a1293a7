"""Make the paths of a trace relative to the worktree if they are in the repository."""

from __future__ import annotations

import operator
import os
from dataclasses import is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

from devfix.model import SourceLocation

Record = TypeVar("Record")
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

    def relocate(self, record: Record) -> Record:
        """Return a record in which every owned source location is relative to the repository and marked as owned."""
        kind = type(record)
        if kind in _PLAIN:
            return record
        if isinstance(record, SourceLocation):
            return cast("Record", self._relocated(record))
        if isinstance(record, tuple):
            items = tuple(map(self.relocate, record))
            same = all(map(operator.is_, items, record))
            return record if same else cast("Record", items)
        if not is_dataclass(record) or isinstance(record, type):
            return record
        changed = {name: new for name, old in vars(record).items() if (new := self.relocate(old)) is not old}
        return replace(record, **changed) if changed else record

    def _relocated(self, place: SourceLocation) -> SourceLocation:
        known = self._places.get(place)
        if known is None:  # a trace names few locations, most of them often
            path, owned = self._relative(place.path)
            known = self._places[place] = replace(place, path=path, owned=owned, line=max(1, place.line))
        return known

    def _relative_to_owned(self, path: str) -> tuple[str, bool]:
        real = os.path.realpath(path) if os.path.isabs(path) and "\0" not in path else path
        if not real.startswith(self.owned):
            return path, False
        relative = real[len(self.owned) :].replace(os.sep, "/")
        foreign = "/site-packages/" in f"/{relative}" if self._tracked is None else relative not in self._tracked
        return (path, False) if foreign else (relative, True)
