"""Carry out a request to publish: where, as whom, and which report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from devfix.config import PublishConfig, decode_config, parse_table
from devfix.errors import UserError
from devfix.publish.action import PublishAction
from devfix.publish.attributes import Attributes
from devfix.publish.comment import comment
from devfix.publish.commit_method import CommitMethod
from devfix.publish.dashboard.update import Dashboard
from devfix.publish.forges.connection import Connection, author_for, connect
from devfix.publish.forges.forge import Forge
from devfix.publish.forges.forge_kind import ForgeKind
from devfix.publish.proposals.artifact import Artifact, open_artifact
from devfix.publish.proposals.proposal import Proposal, proposals
from devfix.publish.proposals.pull_request_text import Page, PullRequestText
from devfix.publish.publish_options import PublishOptions
from devfix.publish.publisher import Publisher
from devfix.publish.suggestions.review import SuggestionReview
from devfix.workspace import Remote, remote_address

_GONE = "the pull request was closed, or has newer commits"
EVENT = "event"


@dataclass(frozen=True)
class Request:
    """The options of `devfix publish`; without a remote, `origin` of the repository of the current folder.

    `permit` is asked before each opening of a pull request, and returns why there must be none, "" to allow it.
    """

    report: Path
    remote: str | None = None
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
    forge: ForgeKind | None = None
    commits: CommitMethod | None = None
    delete_branches: bool = False
    dashboard: bool = False
    suggest: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    permit: Callable[[], str] = lambda: ""


def publish(request: Request, page: Page, notify: Callable[[str], None]) -> Iterator[PublishAction]:
    """Publish a report and yield each action when it is done; `notify` is called before waiting.

    Raises UserError for an invalid report, an unreachable remote or a rejected token.
    """
    artifact = open_artifact(request.report, request.commit)
    url = address_of(request.remote)
    there = connect(url, request.forge, request.api, request.environment, request.dry_run, notify)
    if request.pull_request is not None:
        if request.suggest:
            yield from _suggest(request, url, there, artifact)
        else:
            yield from _comment(request, artifact, there.forge, page)
        return
    if not artifact.data.fixes and artifact.data.outcome != "clean":
        return  # nothing to propose, and no evidence that a failure is fixed
    with _remote(request, url, there, artifact) as (remote, base, other_base):
        request, words, proposed = prepare(request, artifact, remote, page, there.forge.noun, other_base)
        check_branch(request, remote, base)
        options = _options(request, url, base)
        issues = there.forge.issues() if request.dashboard else None
        if request.dashboard and issues is None:
            notify(there.forge.lacks("issue for a dashboard"))
        board = Dashboard(issues, artifact.data, request.source) if issues else None
        if board:
            options = replace(options, choices=board.choices)
        publisher = Publisher(artifact, remote, there.forge, words, options)
        yield from publisher.publish(proposed)
        if board:
            results = [(proposal, step, words.title(proposal)) for proposal, step in publisher.results]
            yield from board.update(results, request.dry_run, options.accepted)


def prepare(
    request: Request, artifact: Artifact, remote: Remote, page: Page, noun: str, other_base: str = ""
) -> tuple[Request, PullRequestText, list[Proposal]]:
    """Return the request with the repository's settings, the texts, and the proposals.

    `noun` is what a pull request is called, `other_base` the base branch where it is not the default one.
    """
    commit = artifact.commit
    request = _configure(request, _config(remote, commit))
    words = PullRequestText(artifact.data, remote.subjects(), page, request.templates, noun)
    proposed = proposals(
        artifact,
        lambda path: remote.content(commit, path),
        request.per_fix,
        request.branch,
        lambda path: remote.is_free(commit, path),
        other_base,
    )
    return request, words, proposed


def _options(request: Request, url: str, base: str) -> PublishOptions:
    return PublishOptions(
        base,
        author_for(url, request.forge, request.environment),
        request.draft,
        request.attributes,
        request.dry_run,
        request.source,
        frozenset(request.accept_lines),
        request.max_open,
        request.commits or CommitMethod.git,
        request.delete_branches,
        permit=request.permit,
    )


@contextmanager
def _remote(request: Request, url: str, there: Connection, artifact: Artifact) -> Iterator[tuple[Remote, str, str]]:
    """Yield the remote, with the base fetched, the name of the base, and again where it is not the default branch."""
    with Remote.open(url, there.token, there.advice) as remote:
        default = remote.default_branch() if request.branch is None or request.base is None else ""
        base = request.base or default
        check_branch(request, remote, base)
        remote.base(base, artifact.commit)
        yield remote, base, "" if base == default else base


def check_branch(request: Request, remote: Remote, base: str = "") -> None:
    """Raise UserError if the request names a branch that is the base, or that git does not allow."""
    if base and request.branch == base:  # after a fast-forward merge its tip may be a commit of devfix
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


def _configure(request: Request, config: PublishConfig) -> Request:
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


def _comment(request: Request, artifact: Artifact, forge: Forge, page: Page) -> Iterator[PublishAction]:
    number = _pull_request(request, artifact, forge)
    if number is None:
        yield PublishAction("left", "", why=_GONE)
        return
    words = PullRequestText(artifact.data, (), page, request.templates, forge.noun)
    yield comment(artifact.data, number, forge, words, request.dry_run, request.accept_lines)


def _suggest(request: Request, url: str, there: Connection, artifact: Artifact) -> Iterator[PublishAction]:
    """Review the pull request with suggestions; its branch must be one of this repository."""
    reviews = there.forge.reviews()
    if reviews is None:
        why = there.forge.lacks("review with suggestions that devfix can write")
        yield PublishAction("left", "", why=why)
        return
    number = _pull_request(request, artifact, there.forge)
    if number is None:
        yield PublishAction("left", "", why=_GONE)
        return
    if not artifact.data.fixes and artifact.data.outcome != "clean":
        return  # nothing to suggest, and no evidence that a failure is fixed
    pull = reviews.pull(number)
    why = ""
    if pull.repository.lower() != reviews.repository.lower():
        why = "the pull request is from a fork, which gets no suggestions: use a comment"
    elif not pull.is_open or (artifact.commit and pull.head != artifact.commit):
        why = _GONE
    if why:
        yield PublishAction("left", pull.branch, number, pull.url, pull.title, why)
        return
    with Remote.open(url, there.token, there.advice) as remote:
        remote.base(pull.branch, artifact.commit)
        commit = artifact.commit

        def content(path: str) -> bytes:
            return remote.content(commit, path)

        proposed = proposals(artifact, content, is_free=lambda path: remote.is_free(commit, path))
        yield SuggestionReview(artifact, pull, reviews).write(proposed, content, _options(request, url, pull.base))


def _pull_request(request: Request, artifact: Artifact, forge: Forge) -> int | None:
    """Return the number of the pull request that was asked for, None if the event's one has moved on."""
    assert request.pull_request is not None
    if request.pull_request == EVENT:
        found = forge.triggering_pull(request.environment)
        if found is None:
            return None
        number, commit = found
        if artifact.commit and artifact.commit != commit:
            raise UserError(f"{request.report}: is about the commit {artifact.commit}, not {commit}, the pushed one")
        return number
    if request.pull_request.isdecimal():
        return int(request.pull_request)
    raise UserError(f"--pull-request {request.pull_request}: give a number, or `{EVENT}` in a workflow")


def address_of(remote: str | None) -> str:
    """Return the URL of a remote: `remote` itself, or that of the current repository's remote of this name."""
    remote = remote or "origin"
    return remote if "/" in remote or ":" in remote else remote_address(Path.cwd(), remote)
