"""The files of one state of the repository."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import libcst as cst

from devfix.model import Edit, SourceLocation
from devfix.notes import Notes
from devfix.source.file import File
from devfix.source.pairs import with_pairs
from devfix.source.parsed_module import SourceError

PARSED = (".py", ".ipynb")
_MOST = 200  # at most, parsed for one search


class Sources:
    """The files of one state of the repository, parsed on demand.

    `read` returns a file's bytes, or None if it must not be edited (not tracked, ignored, excluded); `search` returns
    the paths of the files that contain one of some texts. `notes` collects notes for the user, such as why a file could
    not be parsed.
    """

    def __init__(
        self,
        read: Callable[[str], bytes | None],
        search: Callable[[Sequence[str]], Iterable[str]] = lambda texts: (),
        notes: Notes | None = None,
    ) -> None:
        self._read, self._search = read, search
        self._files: dict[str, File | None] = {}
        self._classes: dict[str, list[tuple[File, cst.ClassDef]]] = {}
        self._paths: list[str] | None = None
        self.notes = notes if notes is not None else Notes()

    def file(self, place: SourceLocation) -> File | None:
        """The file of an owned place; None where it is foreign, excluded or not editable."""
        if not place.owned:
            return None
        if place.path not in self._files:
            self._files[place.path] = self._parse(place.path)
        return self._files[place.path]

    def containing(self, *texts: str, most: int | None = _MOST) -> list[File]:
        """The editable Python files of the repository that have one of some texts in a line; 200 by default at most."""
        found = [path for path in self._search(texts) if path.endswith(PARSED)][:most]
        files = (self.file(SourceLocation(path, 1, owned=True)) for path in found)
        return [file for file in files if file is not None]

    def classes(self, name: str) -> list[tuple[File, cst.ClassDef]]:
        """The classes of the repository with a name, each with its file."""
        if name not in self._classes:
            # A file is only parsed where the name is a whole word: `class Model` is also the start of `class ModelB`.
            defined = re.compile(rf"\bclass\s+{re.escape(name)}\b")
            paths = [path for path in self._search([f"class {name}"]) if defined.search(self.text(path))]
            files = (self.file(SourceLocation(path, 1, owned=True)) for path in paths if path.endswith(PARSED))
            self._classes[name] = [
                (file, each) for file in files if file is not None for each in file.classes if each.name.value == name
            ]
        return self._classes[name]

    def containing_paths(self, *texts: str) -> list[str]:
        """The paths of the repository's files of any kind that have one of some texts in a line."""
        return list(self._search(texts))

    def text(self, path: str) -> str:
        """The text of a file of any kind; "" where it must not be edited."""
        return (self._read(path) or b"").decode("utf-8", "replace")

    def paths(self) -> list[str]:
        """The paths of the repository's Python files, editable or not, sorted; notebooks are no modules."""
        if self._paths is None:
            self._paths = sorted(path for path in self._search([""]) if path.endswith(".py"))
        return self._paths

    def pair_edits(self, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        """Return edits with those of the files that jupytext keeps in step with them."""
        return with_pairs(edits, self._read, self._search, self.notes)

    def _parse(self, path: str) -> File | None:
        data = self._read(path)
        if data is None:
            return None
        try:
            return _parse_once(path, data)
        except SourceError as error:
            self.notes.add(str(error))
            return None


@lru_cache(maxsize=256)
def _parse_once(path: str, data: bytes) -> File:
    """Return a parsed file; the states of a repository share those that are the same in them."""
    return File(path, data)
