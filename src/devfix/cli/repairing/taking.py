"""The options that say where verified fixes go, and which candidates are kept."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated

import typer

from devfix.errors import UserError
from devfix.model import Taking


class Branches(str, Enum):
    """One branch for all, or one for each."""

    one = "one"
    each = "each"


TakeOption = Annotated[
    Taking | None,
    typer.Option(
        metavar="branch|apply|none",
        help="Where verified fixes go: commits on a new branch, the files of the working tree, or nowhere [default: "
        "ask on a terminal, elsewhere branch]",
        show_default=False,
    ),
]
ApplyOption = Annotated[
    bool,
    typer.Option(
        "--apply", help="Same as --take apply. Refuses where uncommitted lines would be overwritten; see devfix undo."
    ),
]
CandidateOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[FAILURE:]N",
        help="Keep the Nth verified candidate for a failure of the report [default: 1:1]; repeatable.",
    ),
]


@dataclass(frozen=True)
class Answers:
    """The choices made about the fixes in advance; `take` is None if there were none."""

    take: Taking | None
    candidates: Mapping[int, int]


def answers(
    take: Taking | None, apply: bool, dry_run: bool, branch: str | None, candidate: Sequence[str] | None
) -> Answers:
    """Return what the options say. Raises UserError if they contradict each other."""
    named = ((Taking.APPLY, apply, "--apply"), (Taking.NONE, dry_run, "--dry-run"))
    said = [(option, value) for value, given, option in named if given]
    if take is not None:
        said.append((f"--take {take.value}", take))
    if len({value for _, value in said}) > 1:
        raise UserError(f"{said[0][0]} and {said[1][0]} contradict each other; give one of them")
    if branch is not None and said and said[0][1] is Taking.APPLY:
        raise UserError(f"{said[0][0]} creates no branch, so --branch {branch} has no effect; give one of them")
    default = Taking.BRANCH if branch is not None else None
    return Answers(said[0][1] if said else default, dict(map(_candidate, candidate or ())))


def asks(said: Answers, is_text: bool) -> bool:
    """Return whether to ask: somebody reads text in a terminal, outside of continuous integration, and has not said."""
    in_ci = os.environ.get("CI", "").lower() not in ("", "0", "false")
    return said.take is None and is_text and not in_ci and sys.stdin.isatty() and sys.stdout.isatty()


def _candidate(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(?:([1-9]\d{0,3}):)?([1-9]\d{0,3})", text)
    if found is None:
        raise UserError(f"--candidate {text}: give a number from 1, or FAILURE:NUMBER, for example 2 or 1:2")
    return int(found[1] or 1), int(found[2])
