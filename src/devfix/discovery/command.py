"""The words of a command, and the programs that they name."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from devfix.discovery.project import Project
from devfix.discovery.shell import shell_syntax
from devfix.errors import UserError

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True)
class Command:
    """A command to run: `words` has the program first, `shown` is what a person types, `origin` says who named it."""

    words: tuple[str, ...]
    shown: str
    origin: str


def asked(run: str, source: str, project: Project, python: Path) -> Command:
    """Return the command that a person asked for; UserError in one line where it cannot be run."""
    try:
        words = shlex.split(run)
    except ValueError as error:
        raise UserError(f"{source} {run!r}: {str(error).lower()}; check the quotes") from None
    if not words:
        raise UserError(f'{source} is empty; give a command: --run "python train.py"')
    if syntax := shell_syntax(run):
        quoted = shlex.quote(run)
        raise UserError(f"{source}: no shell reads the command, so {syntax} means nothing; use: bash -c {quoted}")
    return Command(resolved(words, source, project, python), run, source)


def resolved(words: list[str], source: str, project: Project, python: Path) -> tuple[str, ...]:
    """Return the words with the program made absolute: "python" is `python`, "pytest" is its module, and so on."""
    count = next((index for index, word in enumerate(words) if not _ASSIGNMENT.match(word)), len(words))
    assignments, program, rest = words[:count], words[count : count + 1], words[count + 1 :]
    if not program:
        raise UserError(
            f'{source}: there are variables but no command; add one: "{shlex.join(assignments)} python train.py"'
        )
    env = ("env", *assignments) if assignments else ()
    return (*env, *_program(program[0], source, project, python), *rest)


def _program(word: str, source: str, project: Project, python: Path) -> tuple[str, ...]:
    if word in ("python", "python3"):
        return (str(python),)
    if word in ("pytest", "py.test"):
        return (str(python), "-m", "pytest")
    if "/" in word or os.sep in word:
        return (_file(word, source, project),)
    suffix = ".exe" if sys.platform == "win32" else ""
    if (beside := python.parent / (word + suffix)).is_file():
        return (str(beside),)
    if word in project.scripts:
        return (str(python), "-c", project.scripts[word])
    if found := shutil.which(word):
        return (found,)
    if word.endswith(".py") and word in project.tracked:
        raise UserError(f'{source}: {word} is no program; run it with Python: "python {word}"')
    raise UserError(f"{source}: there is no program {word!r}, neither beside {python} nor on the PATH; check its name")


def _file(word: str, source: str, project: Project) -> str:
    """Return the path of a program: a tracked file stays relative, so that the worktree's own one runs."""
    path = Path(os.path.normpath(word))
    if path.as_posix() in project.tracked:
        return f"./{path.as_posix()}"
    whole = Path(os.path.abspath(project.root / path.expanduser()))
    if not whole.is_file():
        raise UserError(f"{source}: there is no file {word} in {project.root}; paths count from there")
    return str(whole)
