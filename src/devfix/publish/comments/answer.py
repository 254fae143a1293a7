"""Carry out the command of a comment, on GitHub."""

from __future__ import annotations

from collections.abc import Callable

from devfix.publish.action import PublishAction
from devfix.publish.comments.respond import respond
from devfix.publish.connection import connect
from devfix.publish.forge_kind import ForgeKind
from devfix.publish.github.client import GitHubClient
from devfix.publish.github.event import event_of
from devfix.publish.pull_request_text import Page
from devfix.publish.request import Request, address_of


def answer(request: Request, page: Page, notify: Callable[[str], None]) -> PublishAction:
    """Carry out the command of the comment whose event GITHUB_EVENT_PATH names; `request` has no report.

    `notify` is called before waiting. Raises UserError if there is no such event, or GitHub refuses.
    """
    url, environment = address_of(request.remote), request.environment
    forge = connect(url, ForgeKind.github, request.api, environment, request.dry_run, notify).forge
    assert isinstance(forge, GitHubClient)
    return respond(event_of(environment), forge, page, request.dry_run)
