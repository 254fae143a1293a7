"""requirements*.txt: their lines, what they include, and the indexes that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from devfix.environments.declared.requirement import DeclaredRequirement, hide_credentials, name_in
from devfix.environments.declared.texts import read_text

_OPTION = re.compile(r"(--?[A-Za-z][\w-]*)(?:\s*=\s*|\s+|$)(.*)", re.DOTALL)
_COMMENT = re.compile(r"(^|\s)#.*$")
_PER_REQUIREMENT = re.compile(r"\s+--(?:hash|config-settings|global-option|install-option)\b.*$", re.DOTALL)
_INDEX = {"-i": "--index-url", "-f": "--find-links"}
_INDEXES = ("--index-url", "--extra-index-url", "--find-links", "--no-index")
_INCLUDES = {"-r": "-r", "--requirement": "-r", "-c": "-c", "--constraint": "-c"}
_ADDRESS = re.compile(r"(?:git|hg|svn|bzr)\+|https?://|file:")
_OPEN_ENDED = re.compile(r"((?<![=!~])[<>]=?\s*\d+(?:\.\d+)*)\.\*")  # ">=1.*", which older pips took
_ADDRESS_IN = re.compile(r"[a-z+]+://\S+")
_DIRECT = re.compile(r"@\s*(file:\S+)")


@dataclass
class RequirementLines:
    """The contents of a requirement file and of the files that it includes.

    `options` are those for indexes, `notes` say what was left out, `unreadable` are lines in no known form.
    """

    requirements: list[DeclaredRequirement] = field(default_factory=list)
    constraints: list[DeclaredRequirement] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unreadable: list[DeclaredRequirement] = field(default_factory=list)


def read_requirements(folder: Path, name: str) -> RequirementLines:
    """Return what a requirement file below `folder` says; its project itself is left out."""
    path = (folder / name).resolve()
    return read_requirement_texts(folder, name, _logical_lines(read_text(path)))


def read_requirement_texts(folder: Path, name: str, lines: Iterable[tuple[int, str]]) -> RequirementLines:
    """Return what numbered lines of a file below `folder` say, in the format of requirement files."""
    path, reader = (folder / name).resolve(), _Reader(folder.resolve())
    reader.read(path, lines)
    return reader.result()


class _Reader:
    """Reads requirement files of a project's folder, each once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found = RequirementLines()
        self._seen: set[Path] = set()

    def result(self) -> RequirementLines:
        """Return what was read, with one note for all lines in no known form."""
        if unreadable := self._found.unreadable:
            count, first = len(unreadable), unreadable[0]
            lines_are = "a line is not a requirement" if count == 1 else f"{count} lines are not requirements"
            self._note(f"{first.place}: {lines_are} and left out: {hide_credentials(first.text)}")
        return self._found

    def read(self, path: Path, lines: Iterable[tuple[int, str]], constrains: bool = False) -> None:
        """Read the numbered lines of a file, whose requirements are constraints if `constrains`."""
        self._seen.add(path)
        for number, line in lines:
            place = f"{_display_path(path, self._folder)}:{number}"
            option = _OPTION.fullmatch(line) if line.startswith("-") else None
            if option is None:
                self._add(_PER_REQUIREMENT.sub("", line), path, number, constrains)
                continue
            word, value = _INDEX.get(option[1], option[1]), option[2].strip().strip("\"'")
            if word in _INCLUDES:
                inner = (path.parent / value).resolve()
                if not inner.is_file():
                    self._note(f"{place} includes {value}, which is not there")
                elif inner not in self._seen:
                    self.read(inner, _logical_lines(read_text(inner)), constrains or _INCLUDES[word] == "-c")
            elif word in ("-e", "--editable"):
                self._add(value, path, number, constrains)
            elif word in _INDEXES:
                self._add_index(word, value, path, place)

    def _note(self, text: str) -> None:
        self._found.notes.append(text)

    def _add(self, text: str, path: Path, number: int, constrains: bool) -> None:
        shown = _display_path(path, self._folder)
        place = f"{shown}:{number}"
        if (address := _ADDRESS_IN.search(text)) and has_credential(address[0]):
            what = name_in(text) if "@" in text.partition("://")[0] else "a package"
            self._note(f"{place} names {what} at an address with a credential, which is not sent: it is left out")
            return
        if direct := _DIRECT.search(text):
            # `pip freeze` in an environment of conda names files of the machine on which conda built the package.
            if not Path(unquote(urlsplit(direct[1]).path)).exists():
                self._note(f"{place} names a file of another machine ({direct[1]}): any release is taken")
                text = name_in(text)
        elif not _ADDRESS.match(text) and _is_path(text):
            local, bracket, extras = text.partition("[")
            target = (path.parent / local.strip()).resolve()
            if target == self._folder:
                return
            if not target.exists():
                self._note(f"{place} asks for {local.strip()}, which is not there")
                return
            text = f"{target}{bracket}{extras}"
        else:
            text = _OPEN_ENDED.sub(r"\1", text)
        requirement = DeclaredRequirement(text, shown, number)
        if requirement.parsed is None and not text.startswith("/") and not _ADDRESS.match(text):
            self._found.unreadable.append(requirement)
            return
        (self._found.constraints if constrains else self._found.requirements).append(requirement)

    def _add_index(self, word: str, value: str, path: Path, place: str) -> None:
        parts = urlsplit(value)
        if has_credential(value):
            host = parts.hostname or "an index"
            self._note(f"{place} names {host} with a credential, which is not sent: it is left out")
            return
        if value and not parts.scheme:  # a folder of wheels
            value = str((path.parent / value).resolve())
        self._found.options.append(f"{word} {value}".strip())


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines without comments, those that end with a backslash joined, with the number of the first."""
    first, kept = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        first = first or number
        if line.endswith("\\"):
            kept += line[:-1]
            continue
        if whole := _COMMENT.sub("", kept + line).strip():
            yield first, whole
        first, kept = 0, ""


def _is_path(text: str) -> bool:
    return text.startswith((".", "/", "~")) or ("/" in text.partition(";")[0] and "@" not in text)


def has_credential(address: str) -> bool:
    """Return whether an address has a user, a password, or a variable in its place; the user of ssh is none."""
    parts = urlsplit(address)
    if parts.scheme.endswith("ssh"):
        return bool(parts.password)
    return bool(parts.username or parts.password) or "$" in parts.netloc


def _display_path(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
