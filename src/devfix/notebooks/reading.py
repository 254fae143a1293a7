"""The text of a notebook's JSON: where the source of each cell is, and how lines of it are replaced.

Every byte outside of a replaced line stays as it is: outputs, metadata, indentation, escapes, the end of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_RAW_LINE = re.compile(r"(?:[^\\]|\\[^n])*?(?:\\n|$)", re.DOTALL)
_DECODER = json.JSONDecoder()
_ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}")


class NotebookError(ValueError):
    """A notebook cannot be read or edited; the message is the reason."""


@dataclass(frozen=True)
class Piece:
    """One line of a cell's source: its text, and the JSON that stands for it (of a whole string, a part of one)."""

    text: str
    raw: str


@dataclass(frozen=True)
class Source:
    """The source of a cell: where it is in the file, its lines, and what is between them in a list."""

    start: int
    stop: int
    pieces: tuple[Piece, ...]
    gaps: tuple[str, ...]  # before the first line, between two, after the last; without brackets for a string
    is_list: bool

    @property
    def text(self) -> str:
        """The source as it is run."""
        return "".join(piece.text for piece in self.pieces)

    def replace_text(self, text: str, ascii_only: bool) -> str:
        """Return the JSON of the source with other lines; the JSON of equal lines stays."""
        old, new = [piece.text for piece in self.pieces], _split(text)
        kept: list[tuple[int, str]] = []  # the line before, -1 for a new one, and its JSON
        for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag == "equal":
                kept += [(at, self.pieces[at].raw) for at in range(a, b)]
            else:
                kept += [(-1, self._dump(line, ascii_only)) for line in new[c:d]]
        if not self.is_list:
            return '"' + "".join(raw for _, raw in kept) + '"'
        between = self.gaps[1] if len(self.gaps) > 2 else "," + (self.gaps[0] or " ")
        parts = [self.gaps[0]]
        for number, (at, raw) in enumerate(kept):
            if number:
                before = kept[number - 1][0]
                parts.append(self.gaps[at] if before >= 0 and at == before + 1 else between)
            parts.append(raw)
        return "[" + "".join([*parts, self.gaps[-1]]) + "]"

    def _dump(self, line: str, ascii_only: bool) -> str:
        written = json.dumps(line, ensure_ascii=ascii_only)
        return written if self.is_list else written[1:-1]


@dataclass(frozen=True)
class Cell:
    """A code cell: its number among all cells, from 1, its source, and its tags."""

    number: int
    source: Source
    tags: frozenset[str]


def code_cells(text: str) -> tuple[list[Cell], dict[str, Any]]:
    """Return the code cells of a notebook's JSON, and its metadata. Raises NotebookError if it is none of format 4."""
    try:
        data = json.loads(text)
        spans = list(_cell_sources(text))
    except (ValueError, IndexError, RecursionError) as error:
        raise NotebookError(f"it is not valid JSON ({error})") from error
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        raise NotebookError("it is not a notebook of format 4; convert it: jupyter nbconvert --to notebook --inplace")
    cells = []
    for number, (cell, source) in enumerate(zip(data["cells"], spans, strict=True), 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code" and source is not None:
            about = cell.get("metadata")
            tags = about.get("tags") if isinstance(about, dict) else None
            cells.append(Cell(number, source, frozenset(map(str, tags if isinstance(tags, list) else ()))))
    metadata = data.get("metadata")
    return cells, metadata if isinstance(metadata, dict) else {}


def writes_ascii(text: str) -> bool:
    """Return whether a file escapes characters beyond ASCII; one with neither is written as Jupyter does."""
    return text.isascii() and _ESCAPED.search(text) is not None


def _cell_sources(text: str) -> Iterator[Source | None]:
    for key, start in _members(text, _skip(text, 0)):
        if key == "cells" and text[start] == "[":
            for cell in _items(text, start):
                found = None
                if text[cell] == "{":
                    for name, at in _members(text, cell):
                        found = _source(text, at) if name == "source" else found
                yield found


def _source(text: str, start: int) -> Source:
    _, stop = _DECODER.raw_decode(text, start)
    if text[start] == '"':
        raws = [raw for raw in _RAW_LINE.findall(text[start + 1 : stop - 1]) if raw]
        return Source(start, stop, tuple(Piece(json.loads(f'"{raw}"'), raw) for raw in raws), (), False)
    pieces, gaps, last = [], [], start + 1
    for item in _items(text, start):
        value, end = _DECODER.raw_decode(text, item)
        if not isinstance(value, str):
            raise ValueError("a line of a cell's source is not text")
        gaps.append(text[last:item])
        pieces.append(Piece(value, text[item:end]))
        last = end
    gaps.append(text[last : stop - 1])
    whole = Source(start, stop, tuple(pieces), tuple(gaps), True)
    if [piece.text for piece in pieces] == _split(whole.text):
        return whole
    lines = tuple(Piece(line, json.dumps(line, ensure_ascii=writes_ascii(text))) for line in _split(whole.text))
    between = gaps[1] if len(gaps) > 2 else "," + (gaps[0] or " ")
    return Source(start, stop, lines, (gaps[0], *[between] * (len(lines) - 1), gaps[-1]), True)


def _split(text: str) -> list[str]:
    """Split at line feeds only, and keep them."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Yield each key of an object with the place of its value."""
    if text[start] != "{":
        raise ValueError("it is not an object")
    at = _skip(text, start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        yield key, at
        at = _next(text, at)


def _items(text: str, start: int) -> Iterator[int]:
    """Yield the place of each item of a list."""
    at = _skip(text, start + 1)
    while text[at] != "]":
        yield at
        at = _next(text, at)


def _next(text: str, at: int) -> int:
    """Return the place behind a value, and behind the comma after it."""
    _, at = _DECODER.raw_decode(text, at)
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
