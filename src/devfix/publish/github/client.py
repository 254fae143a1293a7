"""GitHub: what devfix asks of it and tells it, through githubkit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from githubkit import GitHub
from githubkit.exception import RequestFailed

from devfix.errors import UserError
from devfix.publish.github.address import Address
from devfix.publish.github.answers import asking, list_of, record_of, said_by
from devfix.publish.github.pull import Pull, pull_from
from devfix.publish.github.retry import RetryPolicy

__all__ = ["GitHubClient", "Pull"]

PAGE, PAGES = 100, 10
TIMEOUT = 30.0  # seconds for one answer


class GitHubClient:
    """One repository on GitHub; everything raises UserError where GitHub refuses, or stays unreachable."""

    def __init__(
        self, address: Address, token: str | None, report: Callable[[str], None], patience: RetryPolicy | None = None
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
            auto_retry=patience or RetryPolicy(report),
        )

    def pulls(self, branch: str, owner: str | None = None) -> list[Pull]:
        """Return the pull requests from a branch, open and closed, newest first."""
        head = f"{owner or self._told.owner}:{branch}"
        with asking("list pull requests"):
            answer = self._github.rest.pulls.list(*self._at, state="all", head=head, per_page=PAGE)
            return [pull_from(data) for data in list_of(answer) if data["head"]["ref"] == branch]

    def own_pulls(self, branch: str) -> list[Pull]:
        """Do the same for a branch of this repository: a fork's of the same name and owner is left out."""
        return [pull for pull in self.pulls(branch) if pull.repository.lower() == self._told.full_name.lower()]

    def create(self, title: str, body: str, branch: str, base: str, draft: bool) -> Pull:
        """Open a pull request, as a draft where the repository has drafts."""
        with asking("open a pull request"):
            try:
                answer = self._github.rest.pulls.create(
                    *self._at, title=title, body=body, head=branch, base=base, draft=draft
                )
            except RequestFailed as error:
                said = said_by(error).lower()
                if draft and "draft" in said:
                    return self.create(title, body, branch, base, False)
                opened = [pull for pull in self.own_pulls(branch) if pull.is_open] if "already exists" in said else []
                if not opened:
                    raise
                return opened[0]  # it was opened, and the answer was lost
            return pull_from(record_of(answer))

    def write(self, number: int, body: str) -> None:
        """Give a pull request a new body."""
        with asking(f"change pull request #{number}"):
            self._github.rest.pulls.update(*self._at, number, body=body)

    def close(self, number: int, body: str) -> None:
        """Close a pull request and give it a new body, at once."""
        with asking(f"close pull request #{number}"):
            self._github.rest.pulls.update(*self._at, number, body=body, state="closed")

    def reopen(self, number: int) -> bool:
        """Reopen a pull request; False where GitHub cannot, since its branch is gone or was made anew."""
        try:
            with asking(f"reopen pull request #{number}"):
                self._github.rest.pulls.update(*self._at, number, state="open")
        except UserError as error:
            if isinstance(error.__cause__, RequestFailed) and error.__cause__.response.status_code == 422:
                return False
            raise
        return True

    def label(self, number: int, labels: Sequence[str]) -> None:
        """Add labels, which GitHub makes where they do not exist."""
        with asking(f"label pull request #{number}"):
            self._github.rest.issues.add_labels(*self._at, number, labels=list(labels))

    def say(self, number: int, words: str) -> str:
        """Comment on a pull request and return the comment's address."""
        with asking(f"comment on pull request #{number}"):
            return str(record_of(self._github.rest.issues.create_comment(*self._at, number, body=words))["html_url"])

    def own_comments(self, number: int) -> Iterator[tuple[int, str, str]]:
        """Yield the id, address and body of each comment on a pull request that this token or a bot wrote."""
        for page in range(1, PAGES + 1):
            with asking(f"read the comments of #{number}"):
                found = list_of(self._github.rest.issues.list_comments(*self._at, number, per_page=PAGE, page=page))
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
        with asking("change a comment"):
            self._github.rest.issues.update_comment(*self._at, comment, body=words)
