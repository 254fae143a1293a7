"""What is known around a program, and how its ending is told."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from devfix.dependencies import Declared
from devfix.obstacles.exceptions import Ending


@dataclass(frozen=True)
class Surroundings:
    """What is known around a program: its interpreter, and the repository that it ran from.

    `folder` is where it ran, relative to `root`; `tracked` has the paths that git knows, relative to `root`.
    `declared` gives the dependencies that the repository declares.
    """

    python: Path
    root: Path
    folder: str
    tracked: frozenset[str]
    declared: Callable[[], Sequence[Declared]]


def where(ending: Ending) -> str:
    """Return the place in the repository at which a program ended, in words."""
    return f"{ending.owned[0]}:{ending.owned[1]}" if ending.owned else "the program"


def short(ending: Ending) -> str:
    """Return an exception with its message, shortened."""
    told = f"{ending.exception}: {ending.message}" if ending.message else ending.exception
    return told if len(told) <= 160 else told[:159] + "…"


def pip(around: Surroundings, what: str) -> str:
    """Return the command that installs something for the program's interpreter."""
    return f"{shlex.quote(str(around.python))} -m pip install {what}"


def advice_on_compiled(first: str) -> str:
    """Return what can be done where code that is compiled for GPUs is missing; `first` is what comes first."""
    return (
        f"{first} and run on a real GPU (--world real), since simulated GPUs run PyTorch's own operators alone; "
        "or give a command that goes without it (--run of devfix repair)"
    )
