"""A requirement as a repository declares it: its text, and the file and line that ask for it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)")


@dataclass(frozen=True)
class DeclaredRequirement:
    """A requirement in the form that uv reads ("numpy>=2", "-e /path"), and where it is declared."""

    text: str
    path: str
    line: int = 0

    @property
    def place(self) -> str:
        """The file and the line that ask for it."""
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def parsed(self) -> Requirement | None:
        """The requirement in its parts; None for a path or an address without a name."""
        try:
            return Requirement(self.text)
        except InvalidRequirement:
            return None

    @property
    def name(self) -> str:
        """The normalized name of the distribution; "" for a path or an address without a name."""
        parsed = self.parsed
        return canonicalize_name(parsed.name) if parsed else ""


@dataclass(frozen=True)
class Part:
    """A part of a declaration that is asked for as a whole: its title, its requirements, and options for uv."""

    title: str
    requirements: tuple[DeclaredRequirement, ...] = ()
    options: tuple[str, ...] = ()


def find_line(text: str, name: str) -> int:
    """Return the first line in which a distribution is named, from 1; 0 if there is none."""
    wanted = canonicalize_name(name)
    for number, line in enumerate(text.splitlines(), 1):
        words = re.findall(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?", line.partition("#")[0])
        if any(canonicalize_name(word) == wanted for word in words):
            return number
    return 0


def name_in(text: str) -> str:
    """Return the normalized name with which a requirement begins; "" if there is none."""
    match = _NAME.match(text)
    return canonicalize_name(match[1]) if match else ""


def hide_credentials(text: str) -> str:
    """Return a requirement for display, without the user and the password of an address."""
    return re.sub(r"(?<=://)[^/@\s]*@", "", text)
