"""Parse a command line and resolve its program, which may be a notebook."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from devfix.discovery.interpreter import Interpreter
from devfix.discovery.project import Project
from devfix.discovery.shell import shell_syntax
from devfix.errors import UserError
from devfix.notebooks import HOST
from devfix.notebooks.notebook import is_notebook


def notebook_words(path: str, python: Path) -> tuple[str, ...]:
    """Return the command that runs a notebook in a kernel of the interpreter."""
    return (str(python), str(HOST), path)


def is_of_notebook(words: Sequence[str]) -> bool:
    """Return whether a command runs a notebook."""
    return str(HOST) in words


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True)
class Command:
    """A command to run: `words` starts with the program, `shown` is the command line, `origin` its source."""

    words: tuple[str, ...]
    shown: str
    origin: str


def runnable(commands: tuple[Command, ...], python: Interpreter) -> tuple[Command, ...]:
    """Return the commands that an interpreter can run: notebooks need ipykernel. Raises UserError if none is left."""
    left = tuple(each for each in commands if python.ipykernel or not is_of_notebook(each.words))
    if commands and not left:
        raise UserError(
            f"{commands[0].shown}: {python.path} has no ipykernel, which runs notebooks; install it there: "
            f"{python.path} -m pip install ipykernel"
        )
    return left


def parse_command(run: str, source: str, project: Project, python: Path) -> Command:
    """Parse the command line `run`; raise UserError if it cannot be run."""
    try:
        words = shlex.split(run)
    except ValueError as error:
        raise UserError(f"{source} {run!r}: {str(error).lower()}; check the quotes") from None
    if not words:
        raise UserError(f'{source} is empty; give a command: --run "python train.py"')
    if syntax := shell_syntax(run):
        quoted = shlex.quote(run)
        raise UserError(
            f"{source}: the command is not run by a shell, so {syntax} has no effect; use: bash -c {quoted}"
        )
    return Command(resolve_program(words, source, project, python), run, source)


def resolve_program(words: list[str], source: str, project: Project, python: Path) -> tuple[str, ...]:
    """Return the words with an absolute program: "python" becomes `python`, "pytest" its module, and so on."""
    count = next((index for index, word in enumerate(words) if not _ASSIGNMENT.match(word)), len(words))
    assignments, program, rest = words[:count], words[count : count + 1], words[count + 1 :]
    if not program:
        raise UserError(f'{source}: variables without a command; add one: "{shlex.join(assignments)} python train.py"')
    env = ("env", *assignments) if assignments else ()
    if notebook := _notebook(words[count:]):
        path = _file(notebook, source, project)
        if project.tracked and os.path.isabs(path):
            raise UserError(f"{source}: {notebook} is not committed; commit it first: git add {shlex.quote(notebook)}")
        return (*env, *notebook_words(path, python))
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
        raise UserError(f'{source}: {word} is not a program; run it with Python: "python {word}"')
    raise UserError(f"{source}: no program {word!r} beside {python} or on the PATH; check its name")


def _notebook(words: Sequence[str]) -> str:
    """Return the notebook that a command runs: by its name alone, `jupyter execute` or `nbconvert --execute`."""
    if len(words) == 1 and is_notebook(words[0]):
        return words[0]
    runs = words[:2] == ["jupyter", "execute"] or (words[:2] == ["jupyter", "nbconvert"] and "--execute" in words)
    return next(filter(is_notebook, words), "") if runs else ""


def _file(word: str, source: str, project: Project) -> str:
    """Return the path of a program; that of a tracked file stays relative, so that the worktree's copy runs."""
    path = Path(os.path.normpath(word))
    if path.as_posix() in project.tracked:
        return f"./{path.as_posix()}"
    whole = Path(os.path.abspath(project.root / path.expanduser()))
    if not whole.is_file():
        raise UserError(f"{source}: no file {word} in {project.root}; paths are relative to that folder")
    return str(whole)
