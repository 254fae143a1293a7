"""Reviews of pull requests on GitHub."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from devfix.publish.forges.capabilities import DiffLines, LineComment, Review, Suggestion
from devfix.publish.forges.github.answers import asking, pull_from, record_of
from devfix.publish.forges.github.connection import PAGE, Connection
from devfix.publish.forges.github.graphql import is_written_by
from devfix.publish.forges.github.retry import create_once
from devfix.publish.forges.pull import Pull

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d{1,9})(?:,(\d{1,9}))? @@", re.MULTILINE)


class GitHubReviews:
    """The reviews of pull requests that belong to the token."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection to the repository."""
        self._connection, self._rest = connection, connection.github.rest

    @property
    def repository(self) -> str:
        """The repository of the branches, as OWNER/NAME."""
        return self._connection.repository

    def pull(self, number: int) -> Pull:
        """Return a pull request."""
        with asking(f"read pull request #{number}"):
            return pull_from(record_of(self._rest.pulls.get(*self._connection.at, number)))

    def diff_lines(self, number: int) -> DiffLines:
        """Return the lines that the diff of a pull request shows; none of a file that is too large for GitHub."""
        rows = self._connection.pages(
            f"read the files of pull request #{number}",
            lambda page: self._rest.pulls.list_files(*self._connection.at, number, per_page=PAGE, page=page),
        )
        return {str(row["filename"]): tuple(shown_lines(str(row.get("patch") or ""))) for row in rows}

    def own_reviews(self, number: int) -> list[Review]:
        """Return the reviews that this token has written, the oldest first."""
        rows = self._connection.pages(
            f"read the reviews of #{number}",
            lambda page: self._rest.pulls.list_reviews(*self._connection.at, number, per_page=PAGE, page=page),
        )
        return [_review(row) for row in rows if is_written_by(row, self._connection.login)]

    def own_comments(self, number: int) -> Iterator[LineComment]:
        """Yield the comments on lines that this token has written."""
        rows = self._connection.pages(
            f"read the review comments of #{number}",
            lambda page: self._rest.pulls.list_review_comments(*self._connection.at, number, per_page=PAGE, page=page),
        )
        for row in rows:
            if is_written_by(row, self._connection.login):
                yield LineComment(int(row["id"]), row.get("body") or "", row.get("line") is not None)

    def create(
        self, number: int, commit: str, body: str, comments: Sequence[tuple[Suggestion, str]], earlier: Sequence[int]
    ) -> Review:
        """Write a review with comments on lines, once; `earlier` are the reviews that were there before."""
        rows = [_row(suggestion, text) for suggestion, text in comments]

        def write() -> Review:
            with asking(f"review pull request #{number}"):
                answer = self._connection.single.rest.pulls.create_review(
                    *self._connection.at,
                    number,
                    commit_id=commit,
                    body=body,
                    event="COMMENT",
                    comments=rows,
                )
                return _review(record_of(answer))

        def find() -> Review | None:
            written = (review for review in self.own_reviews(number) if review.id not in earlier)
            return next(
                (review for review in written if review.body.replace("\r\n", "\n").strip() == body.strip()), None
            )

        return create_once(write, find, self._connection.policy)

    def rewrite(self, number: int, review: int, body: str) -> None:
        """Replace the body of a review."""
        with asking(f"change a review of #{number}"):
            self._rest.pulls.update_review(*self._connection.at, number, review, body=body)

    def rewrite_comment(self, comment: int, body: str) -> None:
        """Replace the text of a comment on lines."""
        with asking("change a review comment"):
            self._rest.pulls.update_review_comment(*self._connection.at, comment, body=body)


def _row(suggestion: Suggestion, text: str) -> dict[str, Any]:
    row = {"path": suggestion.path, "line": suggestion.last, "side": "RIGHT", "body": text}
    if suggestion.first != suggestion.last:
        row |= {"start_line": suggestion.first, "start_side": "RIGHT"}
    return row


def _review(data: Mapping[str, Any]) -> Review:
    return Review(int(data["id"]), str(data["html_url"]), data.get("body") or "")


def shown_lines(patch: str) -> Iterator[range]:
    """Yield the lines of the new version that each hunk of a diff shows."""
    for found in _HUNK.finditer(patch):
        start, count = int(found[1]), 1 if found[2] is None else int(found[2])
        yield range(start, start + count)
