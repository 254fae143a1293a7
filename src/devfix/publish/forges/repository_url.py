"""The parts of a repository's URL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_NAME = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9._-]{0,254}")


@dataclass(frozen=True)
class RepositoryUrl:
    """A URL for git: its scheme, its host with the port ("" for a path), the parts of its path without `.git`."""

    url: str
    scheme: str
    netloc: str
    names: tuple[str, ...]

    @property
    def host(self) -> str:
        """The host without its port."""
        return urlsplit(f"//{self.netloc}").hostname or ""

    @property
    def server(self) -> str:
        """The URL of the host's web server; the port of another protocol is not its port."""
        if self.scheme in ("http", "https"):
            return f"{self.scheme}://{self.netloc}"
        return f"https://{self.host}"


def split_url(url: str) -> RepositoryUrl:
    """Split https://host/owner/name, git@host:owner/name, ssh://git@host/owner/name; a path has no host."""
    written = re.sub(r"\A(?:[\w.-]+@)?([\w.-]+):(?!//)/?", r"ssh://\1/", url) if "://" not in url else url
    parts = urlsplit(written)
    names = [part for part in parts.path.removesuffix("/").removesuffix(".git").split("/") if part]
    is_named = all(_NAME.fullmatch(name) and name.strip(".") for name in names)
    return RepositoryUrl(url, parts.scheme, parts.netloc.rpartition("@")[2], tuple(names) if is_named else ())
