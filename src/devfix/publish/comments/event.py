"""The event of a comment, as the workflow got it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from devfix.errors import UserError


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
