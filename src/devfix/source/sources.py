"""The files of one state of the repository."""

from __future__ import annotations

from collections.abc import Callable

from devfix.model import Place
from devfix.source.file import File
from devfix.source.tree import SourceError


class Sources:
    """The files of one state of the repository, parsed when asked for.

    `read` gives a file's bytes, or None where it must not be edited (not tracked, ignored, excluded).
    """

    def __init__(self, read: Callable[[str], bytes | None]) -> None:
        self._read = read
        self._files: dict[str, File | None] = {}
        self.notes: list[str] = []

    def file(self, place: Place) -> File | None:
        """The file of an owned place; None where it is foreign, excluded or not editable."""
        if not place.owned:
            return None
        if place.path not in self._files:
            self._files[place.path] = self._parse(place.path)
        return self._files[place.path]

    def _parse(self, path: str) -> File | None:
        data = self._read(path)
        if data is None:
            return None
        try:
            return File(path, data)
        except SourceError as error:
            self.notes.append(str(error))
            return None
