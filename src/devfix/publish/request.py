"""Carry out a request to publish: where, as whom, and which report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from devfix.config import PublishConfig, decode_config, parse_table
from devfix.errors import UserError
from devfix.publish.artifact import Artifact, open_artifact
from devfix.publish.attributes import Attributes
from devfix.publish.comment import comment
from devfix.publish.comments.respond import respond
from devfix.publish.commit_method import CommitMethod
from devfix.publish.dashboard.update import Dashboard
from devfix.publish.github.address import Address, address
from devfix.publish.github.client import GitHubClient
from devfix.publish.github.event import event_of, pull_request
from devfix.publish.proposal import proposals
from devfix.publish.publish_options import PublishOptions
from devfix.publish.publisher import PublishAction, Publisher
from devfix.publish.pull_request_text import Page, PullRequestText
from devfix.publish.suggestions.review import SuggestionReview
from devfix.workspace import Actor, Remote, person, remote_address

_GONE = "the pull request was closed, or has newer commits"
BOT = Actor("github-actions[bot]", "41898282+github-actions[bot]@users.noreply.github.com")
EVENT = "event"


@dataclass(frozen=True)
class Request:
    """The options of `devfix publish`."""

    report: Path
    remote: str = "origin"
    base: str | None = None
    branch: str | None = None
    commit: str | None = None
    pull_request: str | None = None
    draft: bool = False
    attributes: Attributes = field(default_factory=Attributes)
    per_fix: bool = False
    max_open: int | None = None
    dry_run: bool = False
    templates: Path | None = None
    api: str | None = None
    source: str = ""
    accept_lines: Sequence[str] = ()
    commits: CommitMethod | None = None
    delete_branches: bool = False
    dashboard: bool = False
    suggest: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def token(self) -> str | None:
        """The token, from the environment: arguments are visible to everybody on the machine."""
        token = self.environment.get("GITHUB_TOKEN") or self.environment.get("GH_TOKEN")
        if token and not token.isprintable():
            raise UserError("GITHUB_TOKEN contains a newline or a control character")
        if not token and not self.dry_run:
            raise UserError("no token: set the environment variable GITHUB_TOKEN, or use --dry-run")
        return token or None


def publish(request: Request, page: Page, notify: Callable[[str], None]) -> Iterator[PublishAction]:
    """Publish a report and yield each action when it is done; `notify` is called before waiting.

    Raises UserError for an invalid report, an unreachable remote or a rejected token.
    """
    artifact = open_artifact(request.report, request.commit)
    where = address(_url(request.remote), request.environment, request.api)
    forge = GitHubClient(where, request.token, notify)
    if request.pull_request is not None:
        yield from (
            _suggest(request, where, artifact, forge) if request.suggest else _comment(request, artifact, forge, page)
        )
        return
    if not artifact.data.fixes and artifact.data.outcome != "clean":
        return  # nothing to propose, and no evidence that a failure is fixed
    with _remote(request, where, artifact) as (remote, base, other_base):
        request = _configured(request, _config(remote, artifact.commit))
        _check_branch(request, remote, base)
        words = PullRequestText(artifact.data, remote.subjects(), page, request.templates)
        commit = artifact.commit
        proposed = proposals(
            artifact,
            lambda path: remote.content(commit, path),
            request.per_fix,
            request.branch,
            lambda path: remote.is_free(commit, path),
            other_base,
        )
        options = _options(request, base)
        issues = forge.issues() if request.dashboard else None
        if request.dashboard and issues is None:
            notify(forge.lacks("issue for a dashboard"))
        board = Dashboard(issues, artifact.data, request.source) if issues else None
        if board:
            options = replace(options, choices=board.choices)
        publisher = Publisher(artifact, remote, forge, words, options)
        yield from publisher.publish(proposed)
        if board:
            results = [(proposal, step, words.title(proposal)) for proposal, step in publisher.results]
            yield from board.update(results, request.dry_run, options.accepted)


def _options(request: Request, base: str) -> PublishOptions:
    return PublishOptions(
        base,
        _person(request.environment),
        request.draft,
        request.attributes,
        request.dry_run,
        request.source,
        frozenset(request.accept_lines),
        request.max_open,
        request.commits or CommitMethod.git,
        request.delete_branches,
    )


@contextmanager
def _remote(request: Request, where: Address, artifact: Artifact) -> Iterator[tuple[Remote, str, str]]:
    """Yield the remote, with the base fetched, the name of the base, and again where it is not the default branch."""
    with Remote.open(where.url, request.token) as remote:
        default = remote.default_branch() if request.branch is None or request.base is None else ""
        base = request.base or default
        _check_branch(request, remote, base)
        remote.base(base, artifact.commit)
        yield remote, base, "" if base == default else base


def _check_branch(request: Request, remote: Remote, base: str) -> None:
    if request.branch == base:  # after a fast-forward merge its tip may be a commit of devfix
        raise UserError(f"--branch {base}: is the base branch; choose another")
    if request.branch is not None and not remote.is_branch_name(request.branch):
        raise UserError(f"--branch {request.branch}: not a valid branch name")


def _config(remote: Remote, commit: str) -> PublishConfig:
    """Return the settings at the root of the repository, at the commit of the report, which is on the base branch."""
    for name in ("devfix.toml", "pyproject.toml"):
        if not remote.is_free(commit, name):
            where = f"{name} at {commit[:12]}"
            table = parse_table(remote.content(commit, name), name, where)
            if table is not None:
                return decode_config(table, where).publish
    return PublishConfig()


def _configured(request: Request, config: PublishConfig) -> Request:
    """Return the request with the repository's settings for what its options leave open."""
    given = request.attributes
    return replace(
        request,
        branch=request.branch or config.branch,
        draft=request.draft or bool(config.draft),
        per_fix=request.per_fix or bool(config.per_fix),
        max_open=request.max_open or config.max_open,
        accept_lines=(*request.accept_lines, *config.accept_lines),
        commits=request.commits or (CommitMethod(config.commits) if config.commits else None),
        delete_branches=request.delete_branches or bool(config.delete_branches),
        dashboard=request.dashboard or bool(config.dashboard),
        attributes=Attributes(
            given.labels or config.labels,
            given.reviewers or config.reviewers,
            given.assignees or config.assignees,
            given.milestone or config.milestone or "",
        ),
    )


def _comment(request: Request, artifact: Artifact, forge: GitHubClient, page: Page) -> Iterator[PublishAction]:
    number = _pull_request(request, artifact, forge)
    if number is None:
        yield PublishAction("left", "", why=_GONE)
        return
    words = PullRequestText(artifact.data, (), page, request.templates)
    yield comment(artifact.data, number, forge, words, request.dry_run, request.accept_lines)


def _suggest(request: Request, where: Address, artifact: Artifact, forge: GitHubClient) -> Iterator[PublishAction]:
    """Review the pull request with suggestions; its branch must be one of this repository."""
    number, reviews = _pull_request(request, artifact, forge), forge.reviews()
    if number is None:
        yield PublishAction("left", "", why=_GONE)
        return
    if reviews is None:
        yield PublishAction("left", "", number, why=forge.lacks("review with suggestions that devfix can write"))
        return
    if not artifact.data.fixes and artifact.data.outcome != "clean":
        return  # nothing to suggest, and no evidence that a failure is fixed
    pull = reviews.pull(number)
    why = ""
    if pull.repository.lower() != where.full_name.lower():
        why = "the pull request is from a fork, which gets no suggestions: use a comment"
    elif not pull.is_open or (artifact.commit and pull.head != artifact.commit):
        why = _GONE
    if why:
        yield PublishAction("left", pull.branch, number, pull.url, pull.title, why)
        return
    with Remote.open(where.url, request.token) as remote:
        remote.base(pull.branch, artifact.commit)
        commit = artifact.commit

        def content(path: str) -> bytes:
            return remote.content(commit, path)

        proposed = proposals(artifact, content, is_free=lambda path: remote.is_free(commit, path))
        yield SuggestionReview(artifact, pull, reviews).write(proposed, content, _options(request, pull.base))


def _pull_request(request: Request, artifact: Artifact, forge: GitHubClient) -> int | None:
    """Return the number of the pull request that was asked for, None if the event's one has moved on."""
    assert request.pull_request is not None
    if request.pull_request == EVENT:
        found = pull_request(event_of(request.environment), forge)
        if found is None:
            return None
        number, commit = found
        if artifact.commit and artifact.commit != commit:
            raise UserError(f"{request.report}: is about the commit {artifact.commit}, not {commit}, the pushed one")
        return number
    if request.pull_request.isdecimal():
        return int(request.pull_request)
    raise UserError(f"--pull-request {request.pull_request}: give a number, or `{EVENT}` in a workflow")


def answer(request: Request, page: Page, notify: Callable[[str], None]) -> PublishAction:
    """Carry out the command of the comment whose event GITHUB_EVENT_PATH names; `request` has no report."""
    forge = GitHubClient(address(_url(request.remote), request.environment, request.api), request.token, notify)
    return respond(event_of(request.environment), forge, page, request.dry_run)


def _url(remote: str) -> str:
    """Return the URL of a remote: `remote` itself, or that of the current repository's remote of this name."""
    return remote if "/" in remote or ":" in remote else remote_address(Path.cwd(), remote)


def _person(environment: Mapping[str, str]) -> Actor:
    name, email = environment.get("GIT_AUTHOR_NAME"), environment.get("GIT_AUTHOR_EMAIL")
    if name and email:
        return Actor(name, email)
    return BOT if environment.get("GITHUB_ACTIONS") == "true" else person(Path.cwd())
