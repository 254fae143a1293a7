"""Sanitize text of an untrusted process for display."""

from __future__ import annotations

import unicodedata


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
