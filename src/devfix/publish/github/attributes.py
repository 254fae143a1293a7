"""What a pull request is given once, when it is opened: labels, reviewers, assignees, a milestone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devfix.errors import UserError

if TYPE_CHECKING:
    from devfix.publish.github.client import GitHubClient


@dataclass(frozen=True)
class Attributes:
    """Labels, the names of people (a reviewer may be a team, `org/team`), and the title of an open milestone."""

    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    milestone: str = ""

    def __bool__(self) -> bool:
        """Return whether anything is to be set."""
        return bool(self.labels or self.reviewers or self.assignees or self.milestone)


def set_attributes(client: GitHubClient, number: int, wanted: Attributes) -> str:
    """Set the attributes of a pull request; return why GitHub refuses some of them, else "".

    A token may be unable to create a label, and only collaborators can be reviewers: the pull request is open without.
    """
    return "; ".join(filter(None, _steps(client, number, wanted)))


def _steps(client: GitHubClient, number: int, wanted: Attributes) -> Iterator[str]:
    if wanted.labels:
        refused = _refusal(client, lambda: client.label(number, wanted.labels))
        yield refused and f"without its labels: {refused}; to create a label a token needs `issues: write`"
    if wanted.reviewers:
        refused = _refusal(client, lambda: client.request_reviews(number, wanted.reviewers))
        yield refused and f"without its reviewers: {refused}"
    if wanted.assignees:
        missing: list[str] = []
        refused = _refusal(client, lambda: missing.extend(client.assign(number, wanted.assignees)))
        refused = refused or (f"{', '.join(missing)} cannot be assigned here" if missing else "")
        yield refused and f"without assignees: {refused}"
    if wanted.milestone:
        known: list[int] = []
        refused = _refusal(client, lambda: known.extend(client.milestones(wanted.milestone)))
        if known:
            refused = _refusal(client, lambda: client.set_milestone(number, known[0]))
        elif not refused:
            refused = f"no open milestone is called {wanted.milestone!r}"
        yield refused and f"without its milestone: {refused}"


def _refusal(client: GitHubClient, act: Callable[[], object]) -> str:
    """Return what GitHub says if it refuses, else "". Raises UserError for any other failure of the request."""
    try:
        act()
    except UserError as error:
        said = client.refusal(error)
        if said:
            return said
        raise
    return ""
