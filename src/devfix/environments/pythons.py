"""The interpreter of an environment: devfix's own, or another one that is installed."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from devfix.environments.declared.declaration import Declaration
from devfix.environments.uv import Uv
from devfix.errors import UserError

OLDEST = SpecifierSet(">=3.10")


@dataclass(frozen=True)
class ChosenPython:
    """An interpreter, its version ("3.11.7"), and what to say of the choice ("" if nothing)."""

    path: Path
    version: str
    note: str = ""


def choose_python(declaration: Declaration, uv: Uv) -> ChosenPython:
    """Return devfix's interpreter, or the newest installed one that the declaration allows for.

    Nothing is downloaded. Raises UserError, in one line, if no interpreter will do.
    """
    own = ChosenPython(Path(sys.executable), platform.python_version())
    required = _specifier(declaration.python)
    if _allows(required, own.version):
        usual = _specifier(declaration.usual_python)
        if _allows(usual, own.version):
            return own
        other = next(_find_installed(uv, usual), None)
        asked = f"{declaration.python_from} asks for Python {declaration.usual_python}"
        return other or ChosenPython(own.path, own.version, f"{asked}; {own.version} is taken")
    if other := next(_find_installed(uv, required), None):
        return other
    asked = f"{declaration.python_from} asks for Python {declaration.python}"
    raise UserError(f"{asked}, and devfix for 3.10 or newer: no such interpreter is installed here; install one")


def _specifier(text: str) -> SpecifierSet:
    try:
        return SpecifierSet(text)
    except InvalidSpecifier:
        return SpecifierSet()


def _allows(specifier: SpecifierSet, version: str) -> bool:
    return specifier.contains(version, prereleases=True) and OLDEST.contains(version, prereleases=True)


def _find_installed(uv: Uv, specifier: SpecifierSet) -> Iterator[ChosenPython]:
    """Yield the interpreters that uv finds and the specifier allows for, newest first."""
    done = uv.run("python", "list", "--only-installed", "--no-config", "--output-format", "json")
    try:
        listed = json.loads(done.stdout or "[]")
    except ValueError:
        return
    for each in listed:
        path, version = each.get("path"), each.get("version", "")
        if path and each.get("implementation") == "cpython" and _allows(specifier, version):
            yield ChosenPython(Path(path), version)
