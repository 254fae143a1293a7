"""Issues of a repository on GitHub."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devfix.publish.forges.capabilities import Issue
from devfix.publish.forges.github.answers import asking, record_of
from devfix.publish.forges.github.connection import PAGE, Connection
from devfix.publish.forges.github.graphql import is_written_by
from devfix.publish.forges.github.retry import create_once


class GitHubIssues:
    """The issues that belong to the token."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection to the repository."""
        self._connection = connection

    def find(self, mark: str) -> Issue | None:
        """Return the oldest issue that this token has opened and whose body starts with a mark; None if none does."""
        if not self._connection.login:
            return None
        rows = self._connection.pages(
            "list issues",
            lambda page: self._connection.github.rest.issues.list_for_repo(
                *self._connection.at,
                creator=self._connection.login,
                state="all",
                sort="created",
                direction="asc",
                per_page=PAGE,
                page=page,
            ),
        )
        for data in rows:
            is_own = "pull_request" not in data and is_written_by(data, self._connection.login)
            if is_own and (data.get("body") or "").startswith(mark):
                return _issue(data)
        return None

    def create(self, title: str, body: str, mark: str) -> Issue:
        """Open an issue, once."""

        def open_issue() -> Issue:
            with asking("open an issue"):
                answer = self._connection.single.rest.issues.create(*self._connection.at, title=title, body=body)
                return _issue(record_of(answer))

        return create_once(open_issue, lambda: self.find(mark), self._connection.policy)

    def write(self, number: int, body: str) -> None:
        """Replace the body of an issue."""
        with asking(f"change issue #{number}"):
            self._connection.github.rest.issues.update(*self._connection.at, number, body=body)


def _issue(data: Mapping[str, Any]) -> Issue:
    return Issue(int(data["number"]), str(data["html_url"]), data.get("body") or "", data["state"] == "open")
