"""Text of a process that is not trusted, made fit to be shown."""

from __future__ import annotations

import unicodedata


def printable(text: str, limit: int) -> str:
    """Return at most `limit` characters, without those that cannot be shown."""
    if len(text) <= limit and text.isprintable():
        return text
    # A lone surrogate cannot be printed or written, an escape (also U+009B, its short form) could drive the reader's
    # terminal, and a mark that turns the direction of writing could show a line as another than it is.
    plain = text[:limit].encode("utf-8", "replace").decode("utf-8")
    return plain if plain.isprintable() else "".join(filter(_is_shown, plain))


def _is_shown(character: str) -> bool:
    return character.isprintable() or character in "\n\t" or unicodedata.category(character) == "Zs"
