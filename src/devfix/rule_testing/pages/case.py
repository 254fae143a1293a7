"""The contents of a rule's page: its sections, and its cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from devfix.model import Safety, World

PROGRAM = "main.py"
Role = Literal["before", "foreign", "failure", "after", "options"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True)
class Block:
    """A fenced block of a case; `start` and `stop` are its lines in the page, including the fences, from 0."""

    role: Role
    language: str
    file: str
    content: str
    start: int
    stop: int


@dataclass(frozen=True)
class Case:
    """A program in a world, how it fails, and the expected repair.

    `before`, `foreign` and `after` map paths to contents; `foreign` files are beside the program and not owned.
    `failure` is None if the program runs clean. If `after` is None, the rule must not propose a change.
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
    program: str = PROGRAM

    @property
    def after_all(self) -> dict[str, bytes]:
        """Every file of the program as it must be after the repair; files without an `after` are unchanged."""
        return {**self.before, **(self.after or {})}


@dataclass(frozen=True)
class Page:
    """A rule's page, which `devfix explain` shows and `devfix test` runs.

    `safety` is the first word of the answer to "Is the fix safe?".
    """

    path: Path
    text: str
    title: str
    safety: Safety
    cases: tuple[Case, ...]
