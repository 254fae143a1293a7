"""A repository -> the commands that may show its failure, and the interpreter that they run in."""

from __future__ import annotations

from pathlib import Path

from devfix.errors import UserError
from devfix.stages.discover.entries import entry_points
from devfix.stages.discover.imports import Imports
from devfix.stages.discover.interpreter import Interpreter, examine, interpreter
from devfix.stages.discover.nothing import nothing
from devfix.stages.discover.project import Project
from devfix.stages.discover.reaching import reaching
from devfix.stages.discover.words import Command, asked

__all__ = ["Command", "Interpreter", "discover", "examine", "interpreter", "reaching"]


def discover(
    root: Path, tracked: frozenset[str], run: str | None, python: Path, source: str = "--run"
) -> tuple[Command, ...]:
    """Return the commands to try, cheapest first: the one in `run`, else every entry point that reaches torch.

    `root` is the folder that commands are run in, `tracked` the paths below it that git knows, relative to it. `source`
    says who asked for `run`. Nothing of the repository is executed. UserError where a command cannot be run, or where
    none is found.
    """
    project = Project(root, tracked)
    if run is not None:
        return (asked(run, source, project, python),)
    imports = Imports(root, tracked, python)
    found = tuple(entry_points(project, imports, python))
    if not found:
        raise UserError(nothing(project, imports, python))
    return found
