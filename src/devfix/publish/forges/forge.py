"""The interface to a forge: the service that has the repository and its pull requests."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from devfix.errors import UserError
from devfix.publish.forges.capabilities import CommitCreator, Issues, Reviews
from devfix.publish.forges.pull import Pull
from devfix.workspace import Remote


class DraftTitles:
    """Takes the prefix off titles that are read, and puts the same one before titles that are written."""

    def __init__(self, prefix: str, pattern: str) -> None:
        """Put `prefix` before the titles of new drafts; `pattern` matches each prefix that the forge knows."""
        self._new, self._pattern = prefix, re.compile(pattern, re.IGNORECASE)
        self._prefixes: dict[int, str] = {}

    def read(self, number: int, title: str) -> str:
        """Return the title without the prefix of a draft."""
        found = self._pattern.match(title)
        self._prefixes[number] = found[0] if found else ""
        return title[found.end() :] if found else title

    def write(self, number: int, title: str) -> str:
        """Return the title with the prefix that it had when it was read."""
        return self._prefixes.get(number, "") + title

    def new(self, title: str, draft: bool) -> str:
        """Return the title of a new pull request."""
        return self._new + title if draft else title


class Comment(NamedTuple):
    """A comment on a pull request."""

    id: int
    url: str
    body: str


class Forge(ABC):
    """One repository on a forge. Every method raises UserError if a request fails.

    The abstract methods are what every forge does. Those for labels and the like return why the forge refuses, or "".

    What only some forges can do is an optional capability: a method with a default here that does nothing and returns
    `lacks(...)`, and that a forge which can do it overrides. Callers report what it returns as a note and go on; none
    of them asks which forge it is.
    """

    name: str
    """The forge's name, for messages."""
    noun = "pull request"
    """What the forge calls a pull request."""
    sign = "#"
    """The sign before the number of a pull request."""

    @abstractmethod
    def open_pulls(self) -> Iterator[Pull]:
        """Yield the open pull requests from branches of this repository, newest first."""

    @abstractmethod
    def own_pulls(self, branch: str) -> list[Pull]:
        """Return the pull requests from a branch of this repository, open and closed, newest first; none of forks."""

    @abstractmethod
    def create(self, title: str, body: str, branch: str, base: str, draft: bool) -> Pull:
        """Open a pull request, as a draft if the repository supports drafts; return the open one if there is one."""

    @abstractmethod
    def write(self, number: int, body: str, title: str) -> None:
        """Replace the title and the body of a pull request."""

    @abstractmethod
    def close(self, number: int, body: str) -> None:
        """Close a pull request and replace its body."""

    @abstractmethod
    def reopen(self, number: int) -> bool:
        """Reopen a pull request; return False if its branch was deleted or recreated."""

    @abstractmethod
    def label(self, number: int, labels: Sequence[str]) -> str:
        """Add labels to a pull request."""

    @abstractmethod
    def request_reviews(self, number: int, reviewers: Sequence[str]) -> str:
        """Request reviews from people, and from teams (`org/team`) where the forge has them."""

    @abstractmethod
    def assign(self, number: int, assignees: Sequence[str]) -> str:
        """Assign a pull request to people."""

    @abstractmethod
    def set_milestone(self, number: int, title: str) -> str:
        """Add a pull request to the open milestone of that title."""

    @abstractmethod
    def say(self, number: int, words: str) -> str:
        """Comment on a pull request and return the URL of the comment."""

    @abstractmethod
    def own_comments(self, number: int) -> Iterator[Comment]:
        """Yield the comments on a pull request that nobody from outside the repository can have written."""

    @abstractmethod
    def rewrite(self, number: int, comment: int, words: str) -> None:
        """Replace the text of a comment on a pull request."""

    def triggering_pull(self, environment: Mapping[str, str]) -> tuple[int, str] | None:
        """Return the number and the commit of the pull request that the job with this environment runs for.

        Return None if it was closed or has newer commits. Raises UserError if the job runs for something else.
        """
        raise UserError(f"{self.lacks('jobs that name their pull request')}; give its number: --pull-request N")

    def safe_body(self, text: str) -> str:
        """Return a text of devfix without what this forge would execute."""
        return text

    def safe_title(self, title: str) -> str:
        """Return a title of devfix without what only this forge would link."""
        return title

    def signed_commits(self, remote: Remote) -> CommitCreator | None:
        """Return what creates commits on the forge itself, which signs them; None if the forge has no such thing."""
        return None

    def issues(self) -> Issues | None:
        """Return the issues of the repository; None if devfix does not use those of this forge."""
        return None

    def reviews(self) -> Reviews | None:
        """Return the reviews of pull requests; None if the forge has no suggestions that devfix can write."""
        return None

    def lacks(self, what: str) -> str:
        """Return the note on something that this forge cannot do."""
        return f"{self.name} has no {what}"
