"""Find the distribution that installed a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePath

SITES = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Distribution:
    """An installed distribution: `site` is its folder, `package` its top-level package or module there."""

    name: str
    version: str
    site: Path
    package: str


def distribution_of(path: str) -> Distribution | None:
    """Return the distribution that installed the file at an absolute path; None if no distribution did."""
    parts = PurePath(path).parts
    index = next((i for i in range(len(parts) - 1, 0, -1) if parts[i] in SITES), None)
    if index is None or index + 1 >= len(parts):
        return None
    site = Path(*parts[: index + 1])
    package = parts[index + 1]
    relative = PurePath(*parts[index + 1 :]).as_posix()
    found = list(metadata.distributions(path=[str(site)]))
    # Reading the files of every distribution takes a second; most distributions have the name of their package.
    found.sort(key=lambda each: normalize_name(each.name) != normalize_name(package.removesuffix(".py")))
    for each in found:
        if any(file.as_posix() == relative for file in each.files or ()):
            return Distribution(each.name, each.version, site, package)
    return None


def normalize_name(name: str) -> str:
    """Return a distribution's name in the normalized form that package indexes compare."""
    return re.sub(r"[-_.]+", "-", name or "").lower()
