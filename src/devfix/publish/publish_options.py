"""Options of pull requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from devfix.publish.attributes import Attributes
from devfix.publish.commit_method import CommitMethod
from devfix.workspace import Actor


@dataclass(frozen=True)
class Choices:
    """The failures, by their keys, that a person has chosen in the dashboard to retry or to ignore."""

    retry: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PublishOptions:
    """Options of pull requests; `person` is the author of the commits, `source` what publishes ("" if unknown).

    `accepted` are digests of lines that a person has looked at, and found to have no credential. With `max_open` pull
    requests of devfix open, no further one is opened. With `delete_branches`, the branch of a pull request that is
    merged, or that devfix has closed, is deleted. `choices` are those of the dashboard. `permit` is asked before each
    opening, and returns why there must be none, "" to allow it.
    """

    base: str
    person: Actor
    draft: bool = False
    attributes: Attributes = field(default_factory=Attributes)
    dry_run: bool = False
    source: str = ""
    accepted: frozenset[str] = frozenset()
    max_open: int | None = None
    commits: CommitMethod = CommitMethod.git
    delete_branches: bool = False
    choices: Choices = field(default_factory=Choices)
    permit: Callable[[], str] = lambda: ""
