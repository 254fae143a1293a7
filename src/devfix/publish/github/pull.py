"""Pull requests in GitHub's responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devfix.publish.marker import find
from devfix.publish.pull import Pull


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
