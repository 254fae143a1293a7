"""Where a repository lies: for git, and for GitHub's interface."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from devfix.errors import UserError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Address:
    """A repository on GitHub, or on a server of that kind: what git is given, whose it is, where the interface lies."""

    url: str
    owner: str
    name: str
    api: str

    @property
    def full_name(self) -> str:
        """The owner and the name, as GitHub writes them."""
        return f"{self.owner}/{self.name}"


def address(url: str, environment: Mapping[str, str], api: str | None = None) -> Address:
    """Take an address apart: https://host/owner/name, git@host:owner/name or ssh://git@host/owner/name.

    The interface lies at `api`, else where GITHUB_API_URL says, if GITHUB_SERVER_URL is the same host, else where that
    host has it. Raises UserError for what is none of these.
    """
    written = re.sub(r"\A(?:[\w.-]+@)?([\w.-]+):(?!//)/?", r"ssh://\1/", url) if "://" not in url else url
    parts = urlsplit(written)
    names = [part for part in parts.path.removesuffix("/").removesuffix(".git").split("/") if part]
    if not parts.hostname or len(names) != 2 or not all(map(_NAME.fullmatch, names)):
        raise UserError(f"--remote {url}: not the address of a repository on GitHub: https://github.com/owner/name")
    return Address(url, names[0], names[1], (api or _api(parts.scheme, parts.netloc, environment)).rstrip("/"))


def _api(scheme: str, host: str, environment: Mapping[str, str]) -> str:
    host = host.rpartition("@")[2]
    if urlsplit(environment.get("GITHUB_SERVER_URL", "")).netloc == host and environment.get("GITHUB_API_URL"):
        return environment["GITHUB_API_URL"]
    if host in ("github.com", "ssh.github.com"):
        return "https://api.github.com"
    return f"{'http' if scheme == 'http' else 'https'}://{host}/api/v3"
