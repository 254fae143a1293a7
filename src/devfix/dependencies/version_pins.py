"""A release pinned in the requirements that a repository has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from devfix.dependencies.distributions import normalised
from devfix.model import Edit

FILES = re.compile(
    r"(^|/)(pyproject\.toml|setup\.cfg|(requirements|constraints)[\w.-]*\.(txt|in)|requirements/[\w.-]+\.(txt|in))$"
)
# A requirement: name, extras, then versions up to a marker, a quote or a comment.
REQUIREMENT = (
    r"(?P<lead>^[^\S\n]*|[\"'])(?P<name>{name})(?P<extras>\[[\w,. -]*\])?"
    r"(?P<spec>[^\S\n]*[(]?(?:[<>=!~]=?=?[^;#\"'\n]*?)?|[^\S\n]*@[^\S\n]*(?:git\+)?[a-z]+:[^;\"'\n]*?)"
    r"(?P<end>[^\S\n]*(?:$|;|[^\S\n]#|[\"']))"
)
# A repository in place of a name, as requirements files have it: `git+https://github.com/owner/name.git@main`.
REPOSITORY = (
    r"(?P<lead>^[^\S\n]*(?:-e[^\S\n]+)?)(?P<spec>(?:git|hg|svn|bzr)\+[^\s#;]*/{name}(?:\.git)?(?:@[^\s#;]+)?(?:\#\S*)?)"
    r"(?P<end>[^\S\n]*(?:$|;|[^\S\n]#))"
)
# Poetry's own table: `name = "^1.0"` or `name = {{version = "^1.0", …}}`.
POETRY = (
    r"(?P<lead>^{name}[^\S\n]*=[^\S\n]*(?:\{{[^}}\n]*?version[^\S\n]*=[^\S\n]*)?[\"'])"
    r"(?P<spec>[\^~<>=!*\d][^\"'\n]*)(?P<end>[\"'])"
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
    match, pin = _requirement(path, text, spelled), f"=={version}"
    if match is None and path.endswith(".toml"):
        match = _found(POETRY, text, spelled)
    elif match is None:
        match, pin = _found(REPOSITORY, text, spelled), f"{name}=={version}"
    if match is None:
        return None
    start, end = match.start("lead") if pin.startswith(name) else match.start("spec"), match.end("spec")
    after = (text[:start] + pin + text[end:]).encode("utf-8", "surrogateescape")
    if after == data:
        return None
    return Edit(path, text.count("\n", 0, start) + 1, data, after)


def _requirement(path: str, text: str, spelled: str) -> re.Match[str] | None:
    """Find the requirement that names a distribution; in TOML it is quoted, and a bare name begins a key."""
    pattern = re.compile(REQUIREMENT.format(name=spelled), re.MULTILINE | re.IGNORECASE)
    every = pattern.finditer(text)
    return next((each for each in every if not path.endswith(".toml") or each["lead"].strip()), None)


def _found(pattern: str, text: str, spelled: str) -> re.Match[str] | None:
    return re.search(pattern.format(name=spelled), text, re.MULTILINE | re.IGNORECASE)
