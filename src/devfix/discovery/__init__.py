"""Find the commands of a repository that may show its failure, and the interpreter that runs them."""

from __future__ import annotations

from pathlib import Path

from devfix.discovery.claimed_devices import claimed_devices, documented_devices
from devfix.discovery.command import Command, is_of_notebook, parse_command, runnable
from devfix.discovery.entry_points import entry_points, reaching
from devfix.discovery.imports import Imports
from devfix.discovery.interpreter import Interpreter, examine, interpreter
from devfix.discovery.nothing_found import describe_nothing_found
from devfix.discovery.project import Project
from devfix.errors import UserError

__all__ = [
    "Command",
    "Interpreter",
    "claimed_devices",
    "discover",
    "documented_devices",
    "examine",
    "interpreter",
    "is_of_notebook",
    "reaching",
    "runnable",
]


def discover(
    root: Path, tracked: frozenset[str], run: str | None, python: Path, source: str = "--run"
) -> tuple[Command, ...]:
    """Return the commands to try, cheapest first: the one in `run`, else every entry point that reaches torch.

    `root` is the folder that commands are run in, `tracked` the tracked paths below it, relative to it. `source` names
    the option or key that `run` comes from. No code of the repository is executed. Raises UserError if the command
    cannot be run, or if none is found.
    """
    project = Project(root, tracked)
    if run is not None:
        return (parse_command(run, source, project, python),)
    imports = Imports(root, tracked, python)
    found = tuple(entry_points(project, imports, python))
    if not found:
        raise UserError(describe_nothing_found(project, imports, python))
    return found
