"""A program in a folder as a case, to see what a rule would be given for it."""

from __future__ import annotations

from pathlib import Path

from devfix.errors import UserError
from devfix.model import World
from devfix.rule_testing.case import Case

MOST_FILES = 500


def program_case(path: Path, gpus: int = 1) -> Case:
    """Return a case of a program and the Python files below its folder. Raises UserError if there are too many."""
    folder = path.resolve().parent
    found = [each for each in sorted(folder.rglob("*.py")) if not _is_hidden(each.relative_to(folder))]
    if len(found) > MOST_FILES:
        raise UserError(f"{folder}: has more than {MOST_FILES} Python files; copy the program and what it imports")
    before = {each.relative_to(folder).as_posix(): each.read_bytes() for each in found}
    return Case(str(path), 1, World("simulated", gpus), {}, before, {}, "", None, (), path.name)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part in ("venv", "site-packages", "__pycache__") for part in path.parts)
