"""Run a command once in a world, in place: nothing is copied, edited or repaired."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from devfix.discovery import discover, examine, interpreter, runnable
from devfix.errors import UserError
from devfix.execution import run_here
from devfix.model import Run, Target, WorldChoice
from devfix.pipeline.opening.options import TIMEOUT
from devfix.pipeline.opening.setup import world_for
from devfix.workspace import Repository


def run(
    command: Sequence[str],
    cwd: str | Path = ".",
    *,
    world: WorldChoice | str = WorldChoice.AUTO,
    gpus: int | None = None,
    python: str | None = None,
    timeout: float | None = None,
    device_map: bool = False,
) -> Run:
    """Run `command` in `cwd` in a world of `gpus` GPUs (default 1), passing its input and output through.

    The run's `stdout` and `stderr` are therefore empty. `timeout` counts seconds (default 600). Raises UserError for
    wrong usage.
    """
    folder = Path(cwd).resolve()
    if not folder.is_dir():
        raise UserError(f"{cwd}: no such folder")
    words = list(command)
    if not words:
        raise UserError("give a command behind --, for example: devfix run -- python train.py")
    path = interpreter(folder, python)
    python_info = examine(path, folder)
    root = _root(folder)
    found = runnable(discover(folder, frozenset(), shlex.join(words), path, "the command"), python_info)[0]
    target = Target(
        root=root,
        commit="",
        command=found.words,
        python=path,
        world=world_for(WorldChoice(world), gpus or 1, python_info),
        timeout=timeout or TIMEOUT,
        subfolder=os.path.relpath(folder, root),
    )
    done = run_here(target, device_map)
    from devfix.pipeline.obstacles import with_obstacle  # with all that reads code, which takes longer than a short run

    return with_obstacle(done, target)


def _root(folder: Path) -> Path:
    """Return the repository around a folder, or the folder itself; everything below it counts as the user's code."""
    try:
        return Repository.open(folder).root
    except UserError:
        return folder
