"""The commands in a README."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt

from devfix.discovery.command import Command, resolve_program
from devfix.discovery.imports import Imports
from devfix.discovery.project import Project
from devfix.errors import UserError

_COMMAND = re.compile(r"\s*(?:[$%>#]\s+)?((?:[A-Za-z_]\w*=\S*\s+)*(?:python3?|torchrun|accelerate|pytest)\s.*)")
# Tools that run a command in the project's environment; devfix has chosen an interpreter already.
_IN_ENVIRONMENT = re.compile(r"\b(?:uv|poetry|pdm|pipenv|rye|pixi)\s+run\s+(?=(?P<script>\S+\.py\b)?)")
# Placeholders, and shell syntax.
_PLACEHOLDER = re.compile(r"[<>{}|;&$`]|\.\.\.|…|\[|path/to|your[-_ ]", re.IGNORECASE)


def readme_commands(project: Project, imports: Imports, python: Path) -> Iterator[Command]:
    """Yield the commands of the README that run a file or a module of the repository which reaches torch."""
    for name in sorted(path for path in project.tracked if re.fullmatch(r"README(\.\w+)?", path, re.IGNORECASE)):
        for line in _lines(project.root / name):
            words = _words(line)
            if words and any(imports.reaches_torch(path) for path in _files(words, project, imports)):
                try:
                    yield Command(resolve_program(words, name, project, python), shlex.join(words), name)
                except UserError:
                    continue  # the program is not installed; try the next command


def _lines(path: Path) -> Iterator[str]:
    try:
        text = path.read_text("utf-8", "replace")[:500_000]
    except OSError:
        return
    for token in MarkdownIt().parse(text):
        if token.type in ("fence", "code_block"):
            yield from re.sub(r"\\\r?\n\s*", " ", token.content).splitlines()


def _words(line: str) -> list[str]:
    match = _COMMAND.match(_IN_ENVIRONMENT.sub(lambda tool: "python " if tool["script"] else "", line, count=1))
    if not match or _PLACEHOLDER.search(match[1]):
        return []
    try:
        return shlex.split(match[1], comments=True)
    except ValueError:
        return []


def _files(words: list[str], project: Project, imports: Imports) -> Iterator[str]:
    """Yield the files of the repository that a command names, as paths or after `-m`."""
    for before, word in zip(["", *words], words, strict=False):
        path = word.removeprefix("./")
        if path.endswith(".py") and path in project.tracked:
            yield path
        elif before == "-m":
            yield from filter(None, (imports.find(f"{word}.__main__"), imports.find(word)))
