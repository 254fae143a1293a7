"""Read the pins of uv.lock and poetry.lock: a release, or a commit, for each package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from devfix.environments.declared.texts import read_toml, table

NAMES = ("uv.lock", "poetry.lock")


@dataclass(frozen=True)
class Pins:
    """The lines of a lock: releases as constraints ("numpy==2.1.0"), commits as overrides ("x @ git+…@commit").

    Neither asks for a package: they say which one is taken where it is needed.
    """

    name: str = ""
    constraints: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()


def read_lock(folder: Path) -> Pins:
    """Return what the lock file of a folder pins, or of the workspace above it; nothing if there is none."""
    for name in NAMES:
        if (folder / name).is_file():
            listed = read_toml(folder / name).get("package")
            packages = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
            return Pins(name, tuple(_releases(packages)), tuple(_commits(packages)))
    return Pins()


def _releases(packages: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a constraint for each package of an index.

    A package that is locked to several releases, for different platforms, stays free. The build of torch is chosen
    elsewhere, so that "+cu124" is left out.
    """
    found: dict[str, set[str]] = {}
    for each in packages:
        name, version = each.get("name"), each.get("version")
        if isinstance(name, str) and isinstance(version, str) and _is_of_index(each):
            found.setdefault(canonicalize_name(name), set()).add(_public(version))
    for name, versions in sorted(found.items()):
        if len(versions) == 1:
            yield f"{name}=={versions.pop()}"


def _is_of_index(package: Mapping[str, Any]) -> bool:
    source = table(package, "source")
    return not source or "registry" in source or source.get("type") == "legacy"


def _public(version: str) -> str:
    try:
        return Version(version).public
    except InvalidVersion:
        return version


def _commits(packages: list[dict[str, Any]]) -> Iterator[str]:
    for each in packages:
        source, name = table(each, "source"), each.get("name")
        if isinstance(address := source.get("git"), str):  # uv
            parts = urlsplit(address)
            below = parse_qs(parts.query).get("subdirectory", [""])[0]
            plain, commit = parts._replace(query="", fragment="").geturl(), parts.fragment
        elif source.get("type") == "git" and isinstance(source.get("url"), str):  # Poetry
            plain, commit = source["url"], str(source.get("resolved_reference", ""))
            below = str(source.get("subdirectory", ""))
        else:
            continue
        if name and commit and "://" in plain:
            yield f"{name} @ git+{plain}@{commit}" + (f"#subdirectory={below}" if below else "")
