"""The address of a repository, for git and for the API of Forgejo and Gitea."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from devfix.errors import UserError
from devfix.publish.forges.repository_url import RepositoryUrl, split_url


@dataclass(frozen=True)
class ForgejoAddress:
    """A repository on a server: the URL for git, the URL of the API, the owner and the name."""

    url: str
    api: str
    owner: str
    name: str

    @property
    def full_name(self) -> str:
        """The owner and the name, separated by a slash."""
        return f"{self.owner}/{self.name}"


def forgejo_address(url: str, environment: Mapping[str, str], api: str | None = None) -> ForgejoAddress:
    """Parse the URL of a repository, on a server that may be below a path.

    The API is at `api`, else at GITHUB_API_URL if GITHUB_SERVER_URL is the same host (the jobs of both have these
    names too), else at the default URL of the host. Raises UserError for any other form.
    """
    parts = split_url(url)
    if not parts.host or len(parts.names) < 2:
        raise UserError(f"--remote {url}: not the URL of a repository, e.g. https://codeberg.org/owner/name")
    below = "/".join(parts.names[:-2])
    return ForgejoAddress(url, (api or _api(parts, below, environment)).rstrip("/"), *parts.names[-2:])


def _api(parts: RepositoryUrl, below: str, environment: Mapping[str, str]) -> str:
    known, server = environment.get("GITHUB_API_URL", ""), environment.get("GITHUB_SERVER_URL", "")
    if known and urlsplit(server).hostname == parts.host:
        return known
    return f"{parts.server}/{below}/api/v1" if below else f"{parts.server}/api/v1"
