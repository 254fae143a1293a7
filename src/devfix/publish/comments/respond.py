"""Carry out the command of a comment on a pull request of devfix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from devfix.publish import secrets
from devfix.publish.action import ActionKind, PublishAction
from devfix.publish.comments.command import COMMANDS, Command, CommentEvent, asked_word, command_of, comment_event
from devfix.publish.forges.connection import connect
from devfix.publish.forges.forge_kind import ForgeKind
from devfix.publish.forges.github.client import GitHubClient
from devfix.publish.forges.github.event import event_of
from devfix.publish.forges.pull import Pull
from devfix.publish.marker import Marker, replace_text
from devfix.publish.proposals.pull_request_text import Page, explanation
from devfix.publish.request import Request, address_of

LEFT: Final = "left"


def respond(event: Mapping[str, Any], forge: GitHubClient, page: Page, dry_run: bool = False) -> PublishAction:
    """Carry out the command of an `issue_comment` event, if its author may write to the repository.

    Nothing of the event is trusted but which comment it is about: the comment, its author's permission and the pull
    request are read again. Whoever may not give commands gets no answer.
    """
    found = comment_event(event)
    if isinstance(found, str):
        return PublishAction(LEFT, "", why=found)
    word = asked_word(found.text)
    if not word:
        return PublishAction(LEFT, "", found.number, why="the comment has no command in its first line")
    discussion = forge.discussion()
    if why := _distrust(found, forge):
        return PublishAction(LEFT, "", found.number, why=why)
    pull = discussion.pull(found.number)
    if pull is None or pull.marker is None:
        return PublishAction(LEFT, "", found.number, why="the pull request is not one of devfix")
    command = command_of(word)
    if dry_run:
        return _step(command or LEFT, pull, "")
    if command is None:
        discussion.react(found.comment, understood=False)
        known = ", ".join(COMMANDS)
        return _step(LEFT, pull, f"no such command; known are {known}")
    why = "" if pull.is_open or command == "explain" else "the pull request is closed"
    if not why:
        _carry_out(command, pull, pull.marker, forge, page)
    discussion.react(found.comment, understood=not why)
    return _step(LEFT if why else command, pull, why)


def _distrust(found: CommentEvent, forge: GitHubClient) -> str:
    """Return why the command of a comment is not carried out, else ""."""
    if forge.discussion().unedited_text(found.comment, found.author) != found.text:
        return "the comment was edited"
    if not forge.discussion().may_write(found.author):
        return "the author of the comment may not write to the repository"
    return ""


def _carry_out(command: Command, pull: Pull, marker: Marker, forge: GitHubClient, page: Page) -> None:
    if command == "rebase":
        forge.write(pull.number, replace_text(pull.body, None, replace(marker, retry=True)), pull.title)
    elif command == "ignore":
        # As if they had closed it themselves: not for the failure being gone.
        forge.close(pull.number, replace_text(pull.body, None, replace(marker, gone="", retry=False)))
    else:
        _explain(pull, marker.rules, forge, page)


def _explain(pull: Pull, rules: Sequence[str], forge: GitHubClient, page: Page) -> None:
    """Write one comment with the pages of the rules, however often somebody asks."""
    mark = "<!-- devfix:explanation -->"
    text = f"{explanation(rules, page).rstrip()}\n\n{mark}\n"
    secrets.check({"the comment": text})
    earlier = next((each for each in forge.own_comments(pull.number) if each.body.rstrip().endswith(mark)), None)
    if earlier is None:
        forge.say(pull.number, text)
    elif earlier.body.replace("\r\n", "\n").strip() != text.strip():
        forge.rewrite(pull.number, earlier.id, text)


def _step(action: ActionKind, pull: Pull, why: str) -> PublishAction:
    return PublishAction(action, pull.branch, pull.number, pull.url, pull.title, why)


def answer(request: Request, page: Page, notify: Callable[[str], None]) -> PublishAction:
    """Carry out the command of the comment whose event GITHUB_EVENT_PATH names; `request` has no report.

    `notify` is called before waiting. Raises UserError if there is no such event, or GitHub refuses.
    """
    url, environment = address_of(request.remote), request.environment
    forge = connect(url, ForgeKind.github, request.api, environment, request.dry_run, notify).forge
    assert isinstance(forge, GitHubClient)
    return respond(event_of(environment), forge, page, request.dry_run)
