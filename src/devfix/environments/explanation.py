"""Explain in one line what uv could not resolve or build, and which declared line asks for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from devfix.environments.declared.requirement import DeclaredRequirement, hide_credentials, name_in

_BUILD = re.compile(r"Failed to (?:download and )?build:? `?([A-Za-z0-9][\w.-]*)")
_FETCH = re.compile(r"Failed to (?:download|fetch|clone|resolve)[^`\n]*`([A-Za-z0-9][\w.-]*)(?: @ [^`]*|==[^`]*)?`")
_NO_WHEEL = re.compile(r"([A-Za-z0-9][\w.-]*)(?:[=<>!~][^\s]*)? ha(?:s|ve) no usable wheels")
_NOT_BUILT = re.compile(
    r"`([A-Za-z0-9][\w.-]*)(?:==[^`]*| @ [^`]*)?`[^`]*building (?:from source|source distributions) is disabled"
)
_BY_ADDRESS = re.compile(r"Package `([A-Za-z0-9][\w.-]*)` was included as a URL dependency")
_ABSENT = re.compile(r"(?:Because |and )([A-Za-z0-9][\w.-]*) was not found in the package registry")
_UNREACHABLE = re.compile(
    r"error sending request|Failed to fetch|Request failed|dns error|Could not connect|HTTP status"
)
_ERROR = re.compile(r"^(?:[A-Z]\w*(?:Error|Exception|Exit)\b.*|error: .*|fatal: .*)$")
_UNDECLARED = re.compile(r"This error likely indicates that `[^`]+` depends on `([\w.-]+)`")
_CONCLUSION = re.compile(r",? we can conclude that .*", re.DOTALL)
_LONGEST = 400
NOT_FETCHED = "it cannot be fetched"
NO_WHEEL = "it has no wheel, and nothing is built"


@dataclass(frozen=True)
class LeftOut:
    """A package without which an environment is built: why, and the declared requirement that asks for it.

    With `needs_build` it is there where it may be built.
    """

    name: str
    reason: str
    asked_by: DeclaredRequirement | None = None
    needs_build: bool = False

    def __str__(self) -> str:
        """Return it in one line."""
        if self.asked_by is None:
            return f"{self.name} is left out: {self.reason}; another package asks for it"
        asks = f"{self.asked_by.place} asks for {hide_credentials(self.asked_by.text)}"
        return f"{self.name} is left out: {self.reason}; {asks}"


def find_left_out(text: str, declared: Iterable[DeclaredRequirement]) -> LeftOut | None:
    """Return the package that an error of uv is about, if it is about one that can be left out."""
    for pattern, reason in (
        (_ABSENT, "no index has it"),
        (_BY_ADDRESS, "it is asked for by an address, which uv follows for the repository alone"),
        (_NO_WHEEL, NO_WHEEL),
        (_NOT_BUILT, NO_WHEEL),
        (_BUILD, ""),
        (_FETCH, NOT_FETCHED),
    ):
        if match := pattern.search(text):
            name = canonicalize_name(match[1])
            asked = next((each for each in declared if _names(each, name)), None)
            why = reason or f"it cannot be built ({last_error(text)})"
            return LeftOut(name, why, asked, reason == NO_WHEEL)
    return None


def is_unreachable(text: str) -> bool:
    """Return whether an index did not answer."""
    return bool(_UNREACHABLE.search(text))


def unreachable(text: str) -> str:
    """Return the line that names the address which did not answer."""
    lines = [line.strip().removeprefix("cause: ") for line in text.splitlines()]
    return next((line for line in lines if "://" in line), lines[0] if lines else "")[:_LONGEST]


def explain_conflict(text: str, declared: Iterable[DeclaredRequirement]) -> str:
    """Return in one line why there is no solution, with the declared lines that ask for what it names."""
    joined = re.sub(r"\s+", " ", text)
    start = joined.find("Because ")
    if start < 0:
        return last_error(text)
    because = _CONCLUSION.sub("", joined[start:])
    because = because.removeprefix("Because ").split(" hint: ")[0]
    words = {canonicalize_name(word) for word in re.findall(r"[A-Za-z0-9][\w.-]*[A-Za-z0-9]|[A-Za-z]", because)}
    asked = [each for each in declared if (each.name or name_in(each.text)) in words]
    asks = ", ".join(f"{each.place} asks for {hide_credentials(each.text)}" for each in dict.fromkeys(asked))
    if len(because) > _LONGEST:
        because = because[:_LONGEST].rsplit(" ", 1)[0] + " …"
    return f"{because}; {asks}" if asks else because


def last_error(text: str) -> str:
    """Return the line of an error that says most: the exception of a build, or else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        if _ERROR.match(line) and not line.startswith("error: Failed to"):
            return line[:_LONGEST]
    if undeclared := _UNDECLARED.search(text):
        return f"it does not declare that its build needs {undeclared[1]}"
    stated = lines[lines.index("[stderr]") + 1 :] if "[stderr]" in lines else []
    stated = [line for line in stated if not line.startswith("hint:")]
    return (stated[-1] if stated else (lines or ["no message"])[0].removeprefix("error: "))[:_LONGEST]


def _names(requirement: DeclaredRequirement, name: str) -> bool:
    return name in (requirement.name, name_in(requirement.text)) or requirement.text.rstrip("/").endswith(f"/{name}")
