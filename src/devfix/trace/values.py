"""Single values out of a trace, each of the type and size that is asked for, whatever it was."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

TEXT_LIMIT = 20_000
NUMBER_LIMIT = 1 << 53


def table(raw: object) -> dict[str, Any]:
    """Return a table, an empty one for anything else."""
    return raw if isinstance(raw, dict) else {}


def items(raw: object) -> Sequence[Any]:
    """Return a list, an empty one for anything else."""
    return raw if isinstance(raw, list) else []


def text(raw: object, limit: int = TEXT_LIMIT) -> str:
    """Return at most `limit` letters that can be shown, "" for what is no text."""
    if not isinstance(raw, str):
        return ""
    # A lone surrogate cannot be printed or written, an escape (also U+009B, its short form) could drive the reader's
    # terminal, and a mark that turns the direction of writing could show a line as another than it is.
    plain = raw[:limit].encode("utf-8", "replace").decode("utf-8")
    return plain if plain.isprintable() else "".join(filter(_shows, plain))


def _shows(letter: str) -> bool:
    return letter.isprintable() or letter in "\n\t" or unicodedata.category(letter) == "Zs"


def number(raw: object) -> int:
    """Return a whole number from 0 on, 0 for anything else."""
    fits = isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= NUMBER_LIMIT
    return raw if fits and isinstance(raw, int) else 0


def real(raw: object) -> float:
    """Return a finite number, 0 for anything else."""
    return float(raw) if isinstance(raw, (int, float)) and abs(raw) < 1e300 else 0.0


def optional(raw: object) -> int | None:
    """Return None for nothing, else what `number` does."""
    return None if raw is None else number(raw)


def shape(raw: object) -> tuple[int, ...]:
    """Return a tensor's sizes."""
    return tuple(number(item) for item in items(raw)[:64])
