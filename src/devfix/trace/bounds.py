"""Limits for the JSON of a trace, which may come from a hostile process: sizes, numbers and characters."""

from __future__ import annotations

import unicodedata
from typing import Any


def printable(text: str, limit: int) -> str:
    """Return at most `limit` characters, without those that cannot be displayed."""
    if len(text) <= limit and text.isprintable():
        return text
    # A lone surrogate cannot be encoded, an escape character (also U+009B) could control the reader's terminal, and a
    # bidirectional mark could change how a line reads.
    plain = text[:limit].encode("utf-8", "replace").decode("utf-8")
    return plain if plain.isprintable() else "".join(filter(_is_shown, plain))


def _is_shown(character: str) -> bool:
    return character.isprintable() or character in "\n\t" or unicodedata.category(character) == "Zs"


TEXT_LIMIT = 4_096  # characters: the maximum length of a path
LONG_TEXTS = {"message": 20_000, "traceback": 200_000}
ITEM_LIMIT = 4_000  # of one list
RECORD_LIMIT = 200_000  # of one trace; the largest valid one seen (2 MB) could have 40,000
NUMBER_LIMIT = 1 << 53
REAL_LIMIT = 1e300


class TooMuch(Exception):
    """The trace has more records than allowed."""


class Bounds:
    """Applies the limits to one trace. Raises TooMuch, or RecursionError if it is nested too deep."""

    def __init__(self) -> None:
        self._left = RECORD_LIMIT

    def apply(self, value: Any, name: str = "") -> Any:
        """Return a JSON value, the member `name` of an object, with everything in it limited."""
        kind = type(value)  # `json` returns no subclasses
        if kind is str:
            return printable(value, LONG_TEXTS.get(name, TEXT_LIMIT))
        if kind is dict:
            self._count()
            return {key: self.apply(item, key) for key, item in value.items()}
        if kind is list:
            return [self.apply(item, name) for item in value[:ITEM_LIMIT]]
        if kind is float:
            return value if abs(value) < REAL_LIMIT else 0.0  # replaces NaN and infinities
        if kind is int:
            return min(max(value, 0), NUMBER_LIMIT)
        return value

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooMuch("more records than a trace can have")
