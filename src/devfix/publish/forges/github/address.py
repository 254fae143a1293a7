"""The address of a repository, for git and for GitHub's API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from devfix.errors import UserError
from devfix.publish.forges.repository_url import RepositoryUrl, split_url

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Address:
    """A repository on GitHub or GitHub Enterprise: the URL for git, the owner, the name, the URL of the API."""

    url: str
    owner: str
    name: str
    api: str

    @property
    def full_name(self) -> str:
        """The owner and the name, separated by a slash."""
        return f"{self.owner}/{self.name}"


def address(url: str, environment: Mapping[str, str], api: str | None = None) -> Address:
    """Parse a URL: https://host/owner/name, git@host:owner/name or ssh://git@host/owner/name.

    The API is at `api`, else at GITHUB_API_URL if GITHUB_SERVER_URL is the same host, else at the default URL of the
    host. Raises UserError for any other form.
    """
    parts = split_url(url)
    if not parts.host or len(parts.names) != 2 or not all(map(_NAME.fullmatch, parts.names)):
        raise UserError(f"--remote {url}: not the URL of a GitHub repository, e.g. https://github.com/owner/name")
    return Address(url, *parts.names, (api or _api(parts, environment)).rstrip("/"))


def _api(parts: RepositoryUrl, environment: Mapping[str, str]) -> str:
    server = urlsplit(environment.get("GITHUB_SERVER_URL", "")).netloc
    if server == parts.netloc and environment.get("GITHUB_API_URL"):
        return environment["GITHUB_API_URL"]
    if parts.netloc in ("github.com", "ssh.github.com"):
        return "https://api.github.com"
    return f"{'http' if parts.scheme == 'http' else 'https'}://{parts.netloc}/api/v3"
