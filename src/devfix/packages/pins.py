"""A release pinned in the requirements that a repository has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from devfix.model import Edit
from devfix.packages.distributions import normalised

FILES = re.compile(
    r"(^|/)(pyproject\.toml|setup\.cfg|(requirements|constraints)[\w.-]*\.(txt|in)|requirements/[\w.-]+\.(txt|in))$"
)
# A requirement: name, extras, then versions up to a marker, a quote or a comment.
REQUIREMENT = (
    r"(?P<lead>^[^\S\n]*|[\"'])(?P<name>{name})(?P<extras>\[[\w,. -]*\])?"
    r"(?P<spec>[^\S\n]*[(]?(?:[<>=!~]=?=?[^;#\"'\n]*?)?)(?P<end>[^\S\n]*(?:$|;|#|[\"']))"
)


@dataclass(frozen=True)
class Pin:
    """A release that runs clean, and the edits that ask for it."""

    name: str
    version: str
    edits: tuple[Edit, ...]


def pinned(name: str, version: str, paths: Iterable[str], read: Callable[[str], bytes | None]) -> Pin:
    """Pin `name` to `version` in every requirements file among `paths` that names it."""
    edits = []
    for path in sorted(filter(FILES.search, paths)):
        data = read(path)
        if data is None:
            continue
        edit = _pinned(path, data, name, version)
        if edit:
            edits.append(edit)
    return Pin(name, version, tuple(edits))


def _pinned(path: str, data: bytes, name: str, version: str) -> Edit | None:
    text = data.decode("utf-8", "surrogateescape")
    spelled = re.sub(r"[-_.]+", "[-_.]+", re.escape(normalised(name)).replace(r"\-", "-"))
    pattern = re.compile(REQUIREMENT.format(name=spelled), re.MULTILINE | re.IGNORECASE)
    match = next((each for each in pattern.finditer(text) if _is_requirement(path, each)), None)
    if match is None:
        return None
    start, end = match.span("spec")
    after = (text[:start] + f"=={version}" + text[end:]).encode("utf-8", "surrogateescape")
    if after == data:
        return None
    return Edit(path, text.count("\n", 0, start) + 1, data, after)


def _is_requirement(path: str, match: re.Match[str]) -> bool:
    """In TOML a requirement is quoted; a bare name at the start of a line is a key."""
    return not path.endswith(".toml") or bool(match["lead"].strip())
