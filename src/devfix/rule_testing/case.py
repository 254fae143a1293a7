"""What a rule's page says: its sections, and its cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devfix.model import Safety, World

PROGRAM = "main.py"


@dataclass(frozen=True)
class Block:
    """A fenced block of a case; `start` and `stop` are its lines in the page, the fences included, from 0."""

    role: str
    language: str
    file: str
    content: str
    start: int
    stop: int


@dataclass(frozen=True)
class Case:
    """A program in a world, how it fails, and what must become of it.

    `before`, `foreign` and `after` map paths to contents; `foreign` files lie beside the program and belong to somebody
    else. `failure` is None where the program runs clean. Where `after` is None the rule must leave the program alone.
    """

    name: str
    line: int
    world: World
    options: Mapping[str, Any]
    before: Mapping[str, bytes]
    foreign: Mapping[str, bytes]
    failure: str | None
    after: Mapping[str, bytes] | None
    blocks: tuple[Block, ...]

    @property
    def after_all(self) -> dict[str, bytes]:
        """Every file of the program as it must be after the repair; one without an `after` stays as it was."""
        return {**self.before, **(self.after or {})}


@dataclass(frozen=True)
class Page:
    """A rule's page: what `devfix explain` shows and what `devfix test` runs.

    `safety` is the word with which the answer to "Is the fix safe?" begins: "safe", "likely" or "unsure".
    """

    path: Path
    text: str
    title: str
    safety: Safety
    cases: tuple[Case, ...]
