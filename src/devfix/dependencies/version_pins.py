"""Pin a release in the requirements of a repository."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement, Requirement

from devfix.dependencies.declared import option_requirements, requirement_lists, version_tables
from devfix.dependencies.distributions import normalize_name
from devfix.model import Edit
from devfix.source.text import first_difference

FILES = re.compile(
    r"(^|/)(pyproject\.toml|setup\.cfg|(requirements|constraints)[\w.-]*\.(txt|in)|requirements/[\w.-]+\.(txt|in))$"
)
_LINE = re.compile(r"(?P<before>\s*)(?P<text>.*?)(?P<after>\s+#.*|\s*)", re.DOTALL)
_NAME = re.compile(r"(?P<name>[\w.-]+)(?P<extras>\s*\[[^\]]*\])?")
_MARKER = re.compile(r"\s*;.*|$", re.DOTALL)


@dataclass(frozen=True)
class Pin:
    """A release that runs clean, and the edits that require it."""

    name: str
    version: str
    edits: tuple[Edit, ...]


def pin_version(name: str, version: str, paths: Iterable[str], read: Callable[[str], bytes | None]) -> Pin:
    """Pin `name` to `version` in every requirements file among `paths` that names it."""
    edits = []
    for path in sorted(filter(FILES.search, paths)):
        before = read(path)
        if before is None:
            continue
        pin = _in_project if path.endswith(".toml") else _in_options if path.endswith(".cfg") else _in_lines
        after = pin(before.decode("utf-8", "surrogateescape"), name, version).encode("utf-8", "surrogateescape")
        if after != before:
            edits.append(Edit(path, first_difference(before, after), before, after))
    return Pin(name, version, tuple(edits))


def _in_lines(text: str, name: str, version: str) -> str:
    """Pin in a file with one requirement per line."""
    return "".join(_in_line(line, name, version) for line in text.splitlines(keepends=True))


def _in_options(text: str, name: str, version: str) -> str:
    """Pin in a setup.cfg."""
    numbers = {number for number, _ in option_requirements(text)}
    lines = enumerate(text.splitlines(keepends=True), 1)
    return "".join(_in_line(line, name, version) if number in numbers else line for number, line in lines)


def _in_line(line: str, name: str, version: str) -> str:
    parts = _LINE.fullmatch(line)
    if parts is None:
        return line
    asked = parts["text"]
    new = _pin_requirement(asked, name, version)
    if new is None and _is_repository_of(asked.removeprefix("-e").lstrip(), name):
        new = f"{name}=={version}"
    return line if new is None else parts["before"] + new + parts["after"]


def _pin_requirement(asked: str, name: str, version: str) -> str | None:
    """Return a requirement with the version; None if it is invalid or has another name. Its marker is unchanged.

    >>> _pin_requirement("Diffusers[torch] ~= 0.30 ; python_version > '3'", "diffusers", "1.0")
    "Diffusers[torch]==1.0 ; python_version > '3'"
    """
    try:
        requirement = Requirement(asked)
    except InvalidRequirement:  # or it has options (`--hash`) that are valid for one file of one version
        return None
    spelled = _NAME.match(asked)
    if normalize_name(requirement.name) != normalize_name(name) or spelled is None:
        return None
    # A URL requirement may contain a semicolon, so its marker must be preceded by a space.
    marker = re.search(r"\s;.*|$", asked) if requirement.url else _MARKER.search(asked)
    return f"{spelled[0]}=={version}{marker[0] if marker else ''}"


def _is_repository_of(address: str, name: str) -> bool:
    """Return whether a URL is that of a repository of this name: `git+https://github.com/owner/name.git@main`."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    last = parts.path.rpartition("/")[2].partition("@")[0].removesuffix(".git")
    return parts.scheme.partition("+")[0] in ("git", "hg", "svn", "bzr") and normalize_name(last) == normalize_name(
        name
    )


def _in_project(text: str, name: str, version: str) -> str:
    """Pin in a pyproject.toml and preserve everything else."""
    # Imported here because it takes 30 ms and is rarely needed.
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
    except TOMLKitError:
        return text
    for requirements in requirement_lists(document):
        for number, asked in enumerate(requirements):
            if isinstance(asked, str) and (new := _pin_requirement(asked, name, version)):
                requirements[number] = _quoted_alike(asked, new)
    for table in version_tables(document):
        for key in [key for key in table if normalize_name(key) == normalize_name(name)]:
            _pin_key(table, key, version)
    return document.as_string()


def _pin_key(table: Any, key: str, version: str) -> None:
    """Pin a key of Poetry, whose value is a version or a table that contains one."""
    value = table[key]
    if isinstance(value, str):
        table[key] = _quoted_alike(value, f"=={version}")
    elif isinstance(value, dict) and isinstance(value.get("version"), str):
        _pin_key(value, "version", version)


def _quoted_alike(old: Any, new: str) -> Any:
    """Return a TOML string with the same quotes as the one it replaces."""
    import tomlkit

    return tomlkit.string(new, literal=old.as_string().startswith("'") and "'" not in new)
