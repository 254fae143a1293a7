"""A pull request on GitHub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from devfix.publish.marker import Marker, find


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
    def rejected(self) -> bool:
        """True if a person closed it: neither merged nor closed by devfix itself."""
        return not (self.is_open or self.merged or (self.marker and self.marker.closed_it(self.closed_at)))


def pull_from(data: Mapping[str, Any]) -> Pull:
    """Return a pull request from a response; raise KeyError or TypeError if it is invalid."""
    repository = data["head"].get("repo") or {}  # a fork that was deleted has none
    return Pull(
        number=data["number"],
        url=data["html_url"],
        branch=data["head"]["ref"],
        base=data["base"]["ref"],
        head=data["head"]["sha"],
        title=data["title"],
        body=data.get("body") or "",
        closed_at="" if data["state"] == "open" else data.get("closed_at") or "unknown",
        merged=bool(data.get("merged_at")),
        repository=repository.get("full_name", ""),
        marker=find(data.get("body")),
    )
