"""Requests to GitHub for a command in a comment: the comment as it is now, what its author may do, and an answer."""

from __future__ import annotations

from typing import Any

from devfix.publish.forges.github.answers import asking, pull_from, record_of
from devfix.publish.forges.github.connection import Connection
from devfix.publish.forges.pull import Pull


class Discussion:
    """Comments on pull requests of one repository, and their authors."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection to the repository."""
        self._connection, self._rest = connection, connection.github.rest

    def unedited_text(self, comment: int, author: str) -> str | None:
        """Return the text of a comment as it is now; None if it is another author's, or has been edited."""
        with asking("read the comment"):
            data = record_of(self._rest.issues.get_comment(*self._connection.at, comment))
            user: Any = data.get("user") or {}
            if str(user["login"]).lower() != author.lower() or user["type"] != "User":
                return None
            return str(data.get("body") or "") if data["created_at"] == data["updated_at"] else None

    def may_write(self, name: str) -> bool:
        """Return whether a person may write to the repository."""
        with asking("read what the author of the comment may do"):
            answer = self._rest.repos.get_collaborator_permission_level(*self._connection.at, name)
            return record_of(answer)["permission"] in ("admin", "write")

    def pull(self, number: int) -> Pull | None:
        """Return a pull request, None if it comes from another repository."""
        with asking(f"read pull request #{number}"):
            pull = pull_from(record_of(self._rest.pulls.get(*self._connection.at, number)))
        return pull if pull.repository.lower() == self._connection.repository.lower() else None

    def react(self, comment: int, understood: bool) -> None:
        """React to a comment; GitHub keeps one reaction of each kind."""
        with asking("react to the comment"):
            self._rest.reactions.create_for_issue_comment(
                *self._connection.at, comment, content="+1" if understood else "confused"
            )
