"""A command in the text of a comment."""

from __future__ import annotations

import re
from typing import Literal, get_args

_FIRST_LINE = re.compile(r"/devfix[ \t]+(\S{1,40})[ \t]*", re.ASCII)
Command = Literal["rebase", "ignore", "explain"]
"""A command in a comment."""
COMMANDS: tuple[Command, ...] = get_args(Command)


def asked_word(text: str) -> str:
    """Return the word after `/devfix` in the first line of a comment, "" if it has no command.

    Only the first line counts: a quotation of somebody's command, or a thousand commands, ask for nothing more.
    """
    found = _FIRST_LINE.fullmatch(text[:200].replace("\r", "\n").partition("\n")[0])
    return found[1].lower() if found else ""


def command_of(word: str) -> Command | None:
    """Return the command of that name, None if there is none."""
    return next((each for each in COMMANDS if each == word), None)
