"""A repository -> the commands that may show its failure, and the interpreter that they run in."""

from __future__ import annotations

from pathlib import Path

from devfix.discovery.command import Command, asked
from devfix.discovery.entry_points import entry_points
from devfix.discovery.imports import Imports
from devfix.discovery.interpreter import Interpreter, examine, interpreter
from devfix.discovery.nothing_found import nothing
from devfix.discovery.project import Project
from devfix.discovery.reaching import reaching
from devfix.errors import UserError

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
