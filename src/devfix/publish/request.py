"""From what a person or a workflow asks for to what is done: where, as whom, about which report."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from devfix.errors import UserError
from devfix.publish.artifact import Artifact, open_artifact
from devfix.publish.github.address import Address, address
from devfix.publish.github.client import GitHubClient
from devfix.publish.github.comment import comment
from devfix.publish.github.event import pull_request
from devfix.publish.proposal import proposals
from devfix.publish.publisher import PublishAction, Publisher, PublishOptions
from devfix.publish.pull_request_text import Page, PullRequestText
from devfix.workspace import Remote, person, remote_address

BOT = ("github-actions[bot]", "41898282+github-actions[bot]@users.noreply.github.com")
EVENT = "event"


@dataclass(frozen=True)
class Request:
    """What is asked for, as the options of `devfix publish` say it."""

    report: Path
    remote: str = "origin"
    base: str | None = None
    branch: str | None = None
    commit: str | None = None
    pull_request: str | None = None
    draft: bool = False
    labels: Sequence[str] = ()
    per_fix: bool = False
    dry_run: bool = False
    templates: Path | None = None
    api: str | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def token(self) -> str | None:
        """The token; an argument could be read by everybody on the machine."""
        token = self.environment.get("GITHUB_TOKEN") or self.environment.get("GH_TOKEN")
        if token and not token.isprintable():
            raise UserError("GITHUB_TOKEN holds more than a token: a line end, or a control character")
        if not token and not self.dry_run:
            raise UserError("no token: put one into the environment variable GITHUB_TOKEN, or see with --dry-run")
        return token or None


def publish(request: Request, page: Page, told: Callable[[str], None]) -> Iterator[PublishAction]:
    """Publish a report and yield each step when it is done; `told` hears of waits.

    Raises UserError for a report that is not taken, a remote that is not reached, a token that is refused.
    """
    artifact = open_artifact(request.report, request.commit)
    where = address(_url(request.remote), request.environment, request.api)
    forge = GitHubClient(where, request.token, told)
    if request.pull_request is not None:
        yield from _comment(request, artifact, forge, page)
        return
    if not artifact.data.fixes and artifact.data.outcome != "clean":
        return  # nothing to propose, and no proof that anything is gone
    with _remote(request, where, artifact) as (remote, base):
        words = PullRequestText(artifact.data, remote.subjects(), page, request.templates)
        commit = artifact.commit
        made = proposals(
            artifact,
            lambda path: remote.content(commit, path),
            request.per_fix,
            request.branch,
            lambda path: remote.is_free(commit, path),
        )
        wishes = PublishOptions(
            base, _person(request.environment), request.draft, tuple(request.labels), request.dry_run
        )
        yield from Publisher(artifact, remote, forge, words, wishes).publish(made)


@contextmanager
def _remote(request: Request, where: Address, artifact: Artifact) -> Iterator[tuple[Remote, str]]:
    """Give the remote, with the base fetched, and the base's name."""
    with Remote.open(where.url, request.token) as remote:
        base = request.base or remote.default_branch()
        if request.branch == base:  # after a merge that only moves it forward, its tip may look like one of ours
            raise UserError(f"--branch {base}: is where the fixes are to be merged to; name another")
        if request.branch is not None and not remote.is_branch_name(request.branch):
            raise UserError(f"--branch {request.branch}: not a name that git allows for a branch")
        remote.base(base, artifact.commit)
        yield remote, base


def _comment(request: Request, artifact: Artifact, forge: GitHubClient, page: Page) -> Iterator[PublishAction]:
    assert request.pull_request is not None
    if request.pull_request == EVENT:
        found = pull_request(_event(request.environment), forge)
        if found is None:
            yield PublishAction(
                "left", "", why="the pull request was closed, or has newer commits: their run sees to it"
            )
            return
        number, commit = found
        if artifact.commit and artifact.commit != commit:
            raise UserError(f"{request.report}: is about the commit {artifact.commit}, not {commit}, which was pushed")
    elif request.pull_request.isdecimal():
        number = int(request.pull_request)
    else:
        raise UserError(f"--pull-request {request.pull_request}: give a number, or `{EVENT}` in a workflow")
    words = PullRequestText(artifact.data, (), page, request.templates)
    yield comment(artifact.data, number, forge, words, request.dry_run)


def _event(environment: Mapping[str, str]) -> Mapping[str, object]:
    path = environment.get("GITHUB_EVENT_PATH", "")
    try:
        data = json.loads(Path(path).read_bytes())
    except (OSError, ValueError):
        raise UserError(
            f"--pull-request {EVENT}: GITHUB_EVENT_PATH names no event of GitHub's; give a number"
        ) from None
    return data if isinstance(data, dict) else {}


def _url(remote: str) -> str:
    """Return the address of a remote: itself, or the one that the repository at hand has under that name."""
    return remote if "/" in remote or ":" in remote else remote_address(Path.cwd(), remote)


def _person(environment: Mapping[str, str]) -> tuple[str, str]:
    name, email = environment.get("GIT_AUTHOR_NAME"), environment.get("GIT_AUTHOR_EMAIL")
    if name and email:
        return name, email
    return BOT if environment.get("GITHUB_ACTIONS") == "true" else person(Path.cwd())
