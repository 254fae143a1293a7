"""Choose the requirement files of a folder that count, by their names."""

from __future__ import annotations

import re
from pathlib import Path

# Names by which projects call what their tests need: extras, groups, files.
TESTING = frozenset({"test", "tests", "testing", "dev"})
_OTHER = frozenset({"doc", "docs", "lint", "linting", "build", "release", "ci", "style", "typing", "mypy"})
_FILE = re.compile(r"(?:[\w.-]+[-_.])?requirements?(?:[-_.][\w.-]+)?\.(?:txt|in)")
_MAIN = ("requirements", "requirement", "base", "main", "default", "common", "install", "runtime", "core", "cpu")


def requirement_files(folder: Path) -> tuple[str, list[str], list[str]]:
    """Return the main file ("" if there is none), those of the tests, and notes on the choice."""
    found = _requirement_files(folder)
    tests = [name for name in found if _words(name) & TESTING]
    rest = [name for name in found if not _words(name) & (TESTING | _OTHER)]
    for word in _MAIN:
        if chosen := next((name for name in rest if _words(name) - {"requirements", "requirement"} <= {word}), None):
            return chosen, tests, []
    if not rest:
        return "", tests, []
    others = f"; left out: {', '.join(rest[1:4])}" if len(rest) > 1 else ""
    return rest[0], tests, [f"{rest[0]} is taken for the requirements{others}"] if others else []


def _requirement_files(folder: Path) -> list[str]:
    """Return the requirement files of a folder and of its folder `requirements`; of two forms the compiled one."""
    try:
        names = sorted(path.name for path in folder.iterdir() if _FILE.fullmatch(path.name) and path.is_file())
        inner = folder / "requirements"
        below = sorted(path for path in inner.iterdir() if path.is_file()) if inner.is_dir() else []
    except OSError:
        return []
    names += [f"requirements/{path.name}" for path in below if path.suffix in (".txt", ".in")]
    compiled = {name.removesuffix(".txt") for name in names if name.endswith(".txt")}
    return [name for name in names if name.endswith(".txt") or name.removesuffix(".in") not in compiled]


def _words(name: str) -> set[str]:
    stem = name.rpartition("/")[2].rpartition(".")[0].lower()
    return set(re.split(r"[-_.]", stem))
