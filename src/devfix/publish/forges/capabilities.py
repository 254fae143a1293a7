"""Interfaces to what only some forges can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from devfix.publish.forges.pull import Pull

DiffLines = Mapping[str, Sequence[range]]
"""The lines of the new version that each hunk of a file's diff shows, by the file's path."""


class Issue(NamedTuple):
    """An issue of the repository."""

    number: int
    url: str
    body: str
    is_open: bool


class Issues(Protocol):
    """The issues of a repository that belong to the token."""

    def find(self, mark: str) -> Issue | None:
        """Return the issue that this token has opened and whose body starts with a mark; None if none does."""

    def create(self, title: str, body: str, mark: str) -> Issue:
        """Open an issue, once."""

    def write(self, number: int, body: str) -> None:
        """Replace the body of an issue."""


class Review(NamedTuple):
    """A review of a pull request."""

    id: int
    url: str
    body: str


class LineComment(NamedTuple):
    """A comment on lines of a pull request; `is_current` while the diff has these lines."""

    id: int
    body: str
    is_current: bool


@dataclass(frozen=True)
class Suggestion:
    """Lines `first` to `last` of the file in the pull request, their text, and the text that replaces them.

    Both texts end with a line feed, whether the file does or not; `text` is empty where lines are deleted.
    """

    path: str
    first: int
    last: int
    old: str
    text: str


class Reviews(Protocol):
    """The reviews of pull requests that belong to the token."""

    @property
    def repository(self) -> str:
        """Return the repository of the branches, as OWNER/NAME."""

    def pull(self, number: int) -> Pull:
        """Return a pull request."""

    def diff_lines(self, number: int) -> DiffLines:
        """Return the lines that the diff of a pull request shows."""

    def own_reviews(self, number: int) -> list[Review]:
        """Return the reviews that this token has written, the oldest first."""

    def own_comments(self, number: int) -> Iterator[LineComment]:
        """Yield the comments on lines that this token has written."""

    def create(
        self, number: int, commit: str, body: str, comments: Sequence[tuple[Suggestion, str]], earlier: Sequence[int]
    ) -> Review:
        """Write a review with comments on lines, once; `earlier` are the reviews that were there before."""

    def rewrite(self, number: int, review: int, body: str) -> None:
        """Replace the body of a review."""

    def rewrite_comment(self, comment: int, body: str) -> None:
        """Replace the text of a comment on lines."""


class CommitCreator(Protocol):
    """Creates commits through the API of a forge."""

    def push(self, branch: str, base: str, tip: str, expected: str) -> str:
        """Create the commits from `base` to `tip`, and set a branch to the last if it is still at `expected`.

        Return the last one's id, "" if the branch moved.
        """
