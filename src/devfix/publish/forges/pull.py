"""A pull request, as every forge has it; GitLab calls it a merge request."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.publish.marker import Marker


@dataclass(frozen=True)
class Pull:
    """A pull request: `branch` and `repository` are where it comes from, `base` where it goes.

    `closed_at` is "" while it is open.
    """

    number: int
    url: str
    branch: str
    base: str
    head: str
    title: str
    body: str
    closed_at: str
    merged: bool
    repository: str
    marker: Marker | None

    @property
    def is_open(self) -> bool:
        """True if the pull request is open."""
        return not self.closed_at

    @property
    def wants_retry(self) -> bool:
        """True if a person asked for its branch to be built again."""
        return self.marker is not None and self.marker.retry

    @property
    def rejected(self) -> bool:
        """True if a person closed it: neither merged nor closed by devfix itself."""
        return not (self.is_open or self.merged or (self.marker and self.marker.closed_it(self.closed_at)))
