"""The address of a project, for git and for GitLab's API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from devfix.errors import UserError
from devfix.publish.forges.repository_url import RepositoryUrl, split_url


@dataclass(frozen=True)
class ProjectAddress:
    """A project on a GitLab server: the URL for git, the URL of the server, and the path with its groups."""

    url: str
    server: str
    path: str


def project_address(url: str, environment: Mapping[str, str], api: str | None = None) -> ProjectAddress:
    """Parse the URL of a project, which may be in nested groups, on a server that may be below a path.

    The server is the one of `api`, else CI_SERVER_URL if that has the same host, else the host. Raises UserError for
    any other form.
    """
    parts = split_url(url)
    server = (api or _server(parts, environment)).rstrip("/").removesuffix("/api/v4")
    below = [name for name in urlsplit(server).path.split("/") if name]
    names = parts.names[len(below) :] if list(parts.names[: len(below)]) == below else parts.names
    if not parts.host or len(names) < 2:
        raise UserError(f"--remote {url}: not the URL of a GitLab project, e.g. https://gitlab.com/group/project")
    return ProjectAddress(url, server, "/".join(names))


def _server(parts: RepositoryUrl, environment: Mapping[str, str]) -> str:
    known = environment.get("CI_SERVER_URL", "")
    return known if known and urlsplit(known).hostname == parts.host else parts.server
