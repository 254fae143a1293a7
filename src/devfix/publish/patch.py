"""Write patches and the text of each pull request to a folder, for forges that devfix does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from devfix.errors import UserError
from devfix.publish import secrets
from devfix.publish.action import PublishAction
from devfix.publish.forges.connection import author_for, token_for
from devfix.publish.forges.gitlab.text import without_quick_actions
from devfix.publish.proposals.artifact import open_artifact
from devfix.publish.proposals.drafts import Drafts
from devfix.publish.proposals.proposal import PREFIX, Proposal
from devfix.publish.proposals.pull_request_text import Page
from devfix.publish.request import Request, address_of, check_branch, prepare
from devfix.workspace import Remote, repository_address

TEXT = "pull-request.md"
_OWN = re.compile(r"\d{4}-[\w.-]{1,100}\.patch|pull-request\.md")
# What `git am` reads in a message: where the message ends and a patch begins, and the next mail.
_BREAK = re.compile(r"^(?=---|diff -|Index: |>*From )", re.MULTILINE)


def write_patches(request: Request, page: Page, folder: Path) -> Iterator[PublishAction]:
    """Write a folder for each pull request below `folder`: patches for `git am`, and its text; yield each when done.

    The commit of the report is read from the remote, or from the repository of the current folder if none was named.
    Nothing is pushed. Raises UserError for an invalid report, a secret, or a folder with files of somebody else.
    """
    artifact = open_artifact(request.report, request.commit)
    if not artifact.data.fixes:
        return
    url = repository_address(Path.cwd()) if request.remote is None else address_of(request.remote)
    token = token_for(url, request.forge, request.environment)
    with Remote.open(url, token) as remote:
        remote.commit_alone(artifact.commit)
        request, words, proposals = prepare(request, artifact, remote, page, "pull request")
        check_branch(request, remote)  # its name becomes that of a folder
        author = author_for(url, request.forge, request.environment)
        drafts = Drafts(artifact, remote, words, author, without_quick_actions, mail_safe)
        made = [(proposal, drafts.tip(proposal)) for proposal in proposals]
        secrets.check(drafts.outgoing(made), frozenset(request.accept_lines))
        for proposal, tip in made:
            target = folder / proposal.branch.removeprefix(PREFIX).replace("/", "-")
            title = words.title(proposal)
            if not request.dry_run:
                _clear(target)
                remote.format_patches(artifact.commit, tip, target)
                _write(target / TEXT, f"# {title}\n\n{drafts.body(proposal)}")
            yield PublishAction("written", proposal.branch, title=title, why=f"{target}: {_count(proposal)}")


def mail_safe(message: str) -> str:
    """Return a commit message in which `git am` finds neither a patch, nor another mail, nor headers.

    The indented lines are shown as they were.
    """
    subject, _, text = message.partition("\n")
    text = _BREAK.sub(" ", text).lstrip("\n")
    first = re.match(r"[\w-]{1,40}:", text)  # headers in a body count only before its first other line
    return f"{subject}\n\n{' ' if first else ''}{text}"


def _count(proposal: Proposal) -> str:
    count = len(proposal.fixes) + len(proposal.tests)
    return f"{count} patch{'es' if count > 1 else ''} for git am --keep-cr --keep-non-patch"


def _clear(folder: Path) -> None:
    """Create the folder, or remove from it what an earlier run wrote."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = list(folder.iterdir())
        for file in files:
            if not _OWN.fullmatch(file.name) or file.is_symlink() or not file.is_file():
                raise UserError(f"{folder}: has {file.name}, which devfix did not write; name another --output")
        for file in files:
            file.unlink()
    except OSError as error:
        raise UserError(f"{folder}: cannot be written: {error.strerror}") from error


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
