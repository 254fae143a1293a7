"""What the small forges of the tests do alike: the branches of a bare repository, and pull requests that people end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from git_repositories import git
from github_parts import now


class HostedPulls:
    """The part of a forge's state that its tests read and change: branches, pull requests, requests."""

    root: Path
    pulls: list[dict[str, Any]]
    requests: list[tuple[str, str]]
    path: str

    @property
    def bare(self) -> Path:
        return self.root / self.path

    def branches(self) -> dict[str, str]:
        listed = git(self.bare, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/")
        return dict(line.split(" ") for line in listed.splitlines())

    def close(self, number: int) -> None:
        """Close a pull request as a person does."""
        self.pulls[number - 1].update(state="closed", closed_at=now())

    def merge(self, number: int) -> None:
        self.pulls[number - 1].update(state="closed", closed_at=now(), merged_at=now())

    def writes(self) -> list[tuple[str, str]]:
        """Return the requests that changed something, or tried to."""
        return [(method, path) for method, path in self.requests if method != "GET" and "upload-pack" not in path]
