"""GitHub: what devfix asks of it and tells it, through githubkit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from githubkit import GitHub, Response
from githubkit.exception import GitHubException, RateLimitExceeded, RequestFailed

from devfix.errors import UserError
from devfix.publish.address import Address
from devfix.publish.marker import Marker, find
from devfix.publish.patience import Patience
from devfix.report.plain import one_line

PAGE, PAGES = 100, 10
TIMEOUT = 30.0  # seconds for one answer


@dataclass(frozen=True)
class Pull:
    """A pull request from a branch of the repository itself; `closed_at` is "" while it is open."""

    number: int
    url: str
    branch: str
    head: str
    title: str
    body: str
    closed_at: str
    merged: bool
    repository: str
    marker: Marker | None

    @property
    def is_open(self) -> bool:
        """Whether it waits to be merged."""
        return not self.closed_at

    @property
    def rejected(self) -> bool:
        """Whether a person closed it: neither merged nor closed by devfix itself."""
        return not (self.is_open or self.merged or (self.marker and self.marker.closed_it(self.closed_at)))


class Forge:
    """One repository on GitHub; everything raises UserError where GitHub refuses, or stays unreachable."""

    def __init__(
        self, address: Address, token: str | None, report: Callable[[str], None], patience: Patience | None = None
    ) -> None:
        """Speak to the address's interface; `report` is told of waits."""
        self._at, self._told = (address.owner, address.name), address
        # Addresses are built from the arguments, never taken from an answer: no redirect and no link is followed.
        self._github: GitHub[Any] = GitHub(
            token,
            base_url=address.api,
            user_agent="devfix",
            follow_redirects=False,
            http_cache=False,
            timeout=TIMEOUT,
            auto_retry=patience or Patience(report),
        )

    def pulls(self, branch: str, owner: str | None = None) -> list[Pull]:
        """Return the pull requests from a branch, open and closed, newest first."""
        head = f"{owner or self._told.owner}:{branch}"
        with _asking("list pull requests"):
            answer = self._github.rest.pulls.list(*self._at, state="all", head=head, per_page=PAGE)
            return [_pull(data) for data in _list(answer) if data["head"]["ref"] == branch]

    def own_pulls(self, branch: str) -> list[Pull]:
        """Do the same for a branch of this repository: a fork's of the same name and owner is left out."""
        return [pull for pull in self.pulls(branch) if pull.repository.lower() == self._told.full_name.lower()]

    def create(self, title: str, body: str, branch: str, base: str, draft: bool) -> Pull:
        """Open a pull request, as a draft where the repository has drafts."""
        with _asking("open a pull request"):
            try:
                answer = self._github.rest.pulls.create(
                    *self._at, title=title, body=body, head=branch, base=base, draft=draft
                )
            except RequestFailed as error:
                said = _said(error).lower()
                if draft and "draft" in said:
                    return self.create(title, body, branch, base, False)
                opened = [pull for pull in self.own_pulls(branch) if pull.is_open] if "already exists" in said else []
                if not opened:
                    raise
                return opened[0]  # it was opened, and the answer was lost
            return _pull(_dict(answer))

    def write(self, number: int, body: str) -> None:
        """Give a pull request a new body."""
        with _asking(f"change pull request #{number}"):
            self._github.rest.pulls.update(*self._at, number, body=body)

    def close(self, number: int, body: str) -> None:
        """Close a pull request and give it a new body, at once."""
        with _asking(f"close pull request #{number}"):
            self._github.rest.pulls.update(*self._at, number, body=body, state="closed")

    def reopen(self, number: int) -> bool:
        """Reopen a pull request; False where GitHub cannot, since its branch is gone or was made anew."""
        try:
            with _asking(f"reopen pull request #{number}"):
                self._github.rest.pulls.update(*self._at, number, state="open")
        except UserError as error:
            if isinstance(error.__cause__, RequestFailed) and error.__cause__.response.status_code == 422:
                return False
            raise
        return True

    def label(self, number: int, labels: Sequence[str]) -> None:
        """Add labels, which GitHub makes where they do not exist."""
        with _asking(f"label pull request #{number}"):
            self._github.rest.issues.add_labels(*self._at, number, labels=list(labels))

    def say(self, number: int, words: str) -> str:
        """Comment on a pull request and return the comment's address."""
        with _asking(f"comment on pull request #{number}"):
            return str(_dict(self._github.rest.issues.create_comment(*self._at, number, body=words))["html_url"])

    def own_comments(self, number: int) -> Iterator[tuple[int, str, str]]:
        """Yield the id, address and body of each comment on a pull request that this token or a bot wrote."""
        for page in range(1, PAGES + 1):
            with _asking(f"read the comments of #{number}"):
                found = _list(self._github.rest.issues.list_comments(*self._at, number, per_page=PAGE, page=page))
            for comment in found:
                user = comment.get("user") or {}
                if user.get("type") == "Bot" or comment.get("author_association") in (
                    "OWNER",
                    "MEMBER",
                    "COLLABORATOR",
                ):
                    yield comment["id"], comment["html_url"], comment.get("body") or ""
            if len(found) < PAGE:
                return

    def rewrite(self, comment: int, words: str) -> None:
        """Give a comment a new text."""
        with _asking("change a comment"):
            self._github.rest.issues.update_comment(*self._at, comment, body=words)


@contextmanager
def _asking(what: str) -> Iterator[None]:
    try:
        yield
    except RateLimitExceeded as error:
        minutes = error.retry_after.total_seconds() / 60
        raise UserError(
            f"GitHub's rate limit is reached: run again in {minutes:.0f} minutes, and it goes on"
        ) from error
    except RequestFailed as error:
        said, status = _said(error), error.response.status_code
        raise UserError(f"GitHub did not let devfix {what} ({status}: {said}){_advice(status, said)}") from error
    except (GitHubException, KeyError, TypeError) as error:
        cause = error.__cause__ or error
        raise UserError(
            f"GitHub could not be asked to {what}: {type(cause).__name__}: {one_line(str(cause))}"
        ) from error


def _advice(status: int, said: str) -> str:
    if "not permitted to create" in said:
        return "; allow it under Settings, Actions, General: Allow GitHub Actions to create and approve pull requests"
    if status == 401:
        return "; GITHUB_TOKEN holds no valid token"
    if status in (403, 404):
        return "; the token needs `contents: write` and `pull-requests: write` on this repository"
    return ""


def _said(error: RequestFailed) -> str:
    """Return what GitHub answered, in one line."""
    try:
        data = error.response.json()
        details = [
            each.get("message") or each.get("code", "") for each in data.get("errors", ()) if isinstance(each, dict)
        ]
        return one_line(" ".join([str(data.get("message", "")), *map(str, details)]), 300)
    except (ValueError, AttributeError):
        return one_line(error.response.text, 100)


def _dict(response: Response[Any, Any]) -> Mapping[str, Any]:
    data = response.json()
    if not isinstance(data, dict):
        raise TypeError("GitHub's answer is no object")
    return data


def _list(response: Response[Any, Any]) -> list[Mapping[str, Any]]:
    data = response.json()
    if not isinstance(data, list):
        raise TypeError("GitHub's answer is no list")
    return data


def _pull(data: Mapping[str, Any]) -> Pull:
    repository = data["head"].get("repo") or {}  # a fork that was deleted has none
    return Pull(
        number=data["number"],
        url=data["html_url"],
        branch=data["head"]["ref"],
        head=data["head"]["sha"],
        title=data["title"],
        body=data.get("body") or "",
        closed_at="" if data["state"] == "open" else data.get("closed_at") or "unknown",
        merged=bool(data.get("merged_at")),
        repository=repository.get("full_name", ""),
        marker=find(data.get("body")),
    )
