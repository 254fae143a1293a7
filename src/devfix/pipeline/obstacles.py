"""Find what a program lacks on this machine, from its last run and from what the repository declares."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

from devfix.dependencies import declared_dependencies
from devfix.errors import UserError
from devfix.model import Obstacle, Run, Target
from devfix.obstacles import Surroundings, hindrance
from devfix.pipeline.opening.session import Session
from devfix.workspace import Repository

_FILE = re.compile(r'(File ")([^"\n]+)(")')
_INSTALLED = ("site-packages", "dist-packages")


def obstacle_of(session: Session, run: Run) -> Obstacle | None:
    """Return what kept a run from working for a reason unrelated to devices; None if there is no evidence of that."""
    return hindrance(run, _around(session.target, session.repository))


def with_obstacle(run: Run, target: Target) -> Run:
    """Return a run of the target in place, with its obstacle.

    The output of the run went to the terminal, so only the traceback that the probe recorded can be read.
    """
    if run.failure is None:
        return run
    shown = replace(run.failure, traceback=_from_root(run.failure.traceback, target))
    try:
        repository = Repository.open(target.root)
    except UserError:
        around = Surroundings(target.python, target.root, target.subfolder, frozenset(), list)
    else:
        around = _around(target, repository)
    return replace(run, obstacle=hindrance(replace(run, failure=shown), around))


def _around(target: Target, repository: Repository) -> Surroundings:
    tracked = repository.tracked_paths()
    known = partial(declared_dependencies, tracked, repository.content)
    return Surroundings(target.python, repository.root, target.subfolder, tracked, known)


def _from_root(traceback: str, target: Target) -> str:
    """Return the traceback with paths as in a run of a worktree: "./" and the path from the root of the repository."""

    def written(found: re.Match[str]) -> str:
        path = Path(found[2])
        if not path.is_relative_to(target.root) or any(part in _INSTALLED for part in path.parts):
            return found[0]
        return f"{found[1]}./{path.relative_to(target.root)}{found[3]}"

    return _FILE.sub(written, traceback)
