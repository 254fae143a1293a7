"""The event of a comment, and the command in its text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from devfix.errors import UserError

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


@dataclass(frozen=True)
class CommentEvent:
    """A comment on a pull request: its number, and the comment's id, author and text."""

    number: int
    comment: int
    author: str
    text: str


def comment_event(event: Mapping[str, Any]) -> CommentEvent | str:
    """Return the comment of an `issue_comment` event, or why nothing is done about it.

    Raises UserError for another event.
    """
    try:
        action, issue, comment = event["action"], event["issue"], event["comment"]
        user = comment["user"]
        found = CommentEvent(int(issue["number"]), int(comment["id"]), str(user["login"]), str(comment["body"] or ""))
        kind, is_pull_request = str(user["type"]), "pull_request" in issue
    except (KeyError, TypeError, ValueError):
        raise UserError("the event is not that of a comment: use it in a workflow `on: issue_comment`") from None
    if action != "created":
        return "a comment counts when it is written, not when it is edited or deleted"
    if not is_pull_request:
        return "the comment is not on a pull request"
    if kind != "User":
        return "bots give no commands"
    return found
