"""Commands in comments, and the events that bring them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from devfix.errors import UserError
from devfix.publish.comments.command import COMMANDS, CommentEvent, asked_word, command_of, comment_event

EVENT: dict[str, Any] = {
    "action": "created",
    "issue": {"number": 3, "pull_request": {"url": "https://api.github.com/repos/ada/model/pulls/3"}},
    "comment": {"id": 9, "body": "/devfix ignore", "user": {"login": "grace", "type": "User"}},
}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("/devfix rebase", "rebase"),
        ("/devfix \t Rebase  \r\nplease, since main moved", "rebase"),
        ("/devfix explain\n/devfix ignore\n" * 1000, "explain"),
        ("> /devfix ignore", ""),
        ("Please\n/devfix ignore", ""),
        ("`/devfix ignore`", ""),
        ("/devfix", ""),
        ("/devfix ignore this", ""),
        ("/devfixer ignore", ""),
        ("/devfix " + "x" * 1_000_000, ""),
        ("", ""),
    ],
)
def test_the_first_line_is_the_command(text: str, word: str) -> None:
    assert asked_word(text) == word


def test_what_is_no_command_is_none() -> None:
    assert [command_of(each) for each in COMMANDS] == list(COMMANDS)
    assert command_of("merge") is None and command_of("__init__") is None


def test_the_event_of_a_comment() -> None:
    assert comment_event(EVENT) == CommentEvent(3, 9, "grace", "/devfix ignore")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"action": "edited"}, "not when it is edited"),
        ({"action": "deleted"}, "not when it is edited or deleted"),
        ({"issue": {"number": 3}}, "not on a pull request"),
        ({"comment": {**EVENT["comment"], "user": {"login": "devfix[bot]", "type": "Bot"}}}, "bots give no commands"),
    ],
)
def test_what_is_left_alone(changes: dict[str, Any], why: str) -> None:
    assert why in str(comment_event({**deepcopy(EVENT), **changes}))


@pytest.mark.parametrize("event", [{}, {"action": "created"}, {**EVENT, "comment": {}}, {**EVENT, "issue": None}])
def test_another_event_is_an_error(event: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="issue_comment"):
        comment_event(event)
