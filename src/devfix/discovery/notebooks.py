"""Commands that run a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from devfix.notebooks import HOST


def notebook_words(path: str, python: Path) -> tuple[str, ...]:
    """Return the command that runs a notebook in a kernel of the interpreter."""
    return (str(python), str(HOST), path)


def is_of_notebook(words: Sequence[str]) -> bool:
    """Return whether a command runs a notebook."""
    return str(HOST) in words
