"""Attributes that a pull request gets once, when it is opened: labels, reviewers, assignees, a milestone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from devfix.publish.forges.forge import Forge


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


def set_attributes(forge: Forge, number: int, wanted: Attributes) -> str:
    """Set the attributes of a pull request; return why the forge refuses some of them, else "".

    A token may be unable to create a label, and only collaborators can be reviewers: the pull request is open without.
    """
    return "; ".join(f"without {what}: {refused}" for what, refused in _steps(forge, number, wanted) if refused)


def _steps(forge: Forge, number: int, wanted: Attributes) -> Iterator[tuple[str, str]]:
    if wanted.labels:
        yield "its labels", forge.label(number, wanted.labels)
    if wanted.reviewers:
        yield "its reviewers", forge.request_reviews(number, wanted.reviewers)
    if wanted.assignees:
        yield "assignees", forge.assign(number, wanted.assignees)
    if wanted.milestone:
        yield "its milestone", forge.set_milestone(number, wanted.milestone)
