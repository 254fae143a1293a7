"""The context of a program, and the wording of obstacles."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from devfix.dependencies import Declared
from devfix.obstacles.exceptions import Ending


@dataclass(frozen=True)
class Surroundings:
    """The context of a program: its interpreter and its repository.

    `folder` is where it ran, relative to `root`; `tracked` has the tracked paths, relative to `root`. `declared`
    returns the dependencies that the repository declares.
    """

    python: Path
    root: Path
    folder: str
    tracked: frozenset[str]
    declared: Callable[[], Sequence[Declared]]


def where(ending: Ending) -> str:
    """Return the innermost line of the repository in a traceback, or "the program"."""
    return f"{ending.owned[0]}:{ending.owned[1]}" if ending.owned else "the program"


def short(ending: Ending) -> str:
    """Return an exception with its message, shortened."""
    text = f"{ending.exception}: {ending.message}" if ending.message else ending.exception
    return text if len(text) <= 160 else text[:159] + "…"


def pip(around: Surroundings, what: str) -> str:
    """Return the command that installs a requirement for the interpreter of the program."""
    return f"{shlex.quote(str(around.python))} -m pip install {what}"


def advice_on_compiled(first: str) -> str:
    """Return the advice on missing code that is compiled for GPUs; `first` is the first step."""
    return (
        f"{first} and run on a real GPU (--world real), since simulated GPUs only run PyTorch's own operators; "
        "or give a command that does not need it (--run of devfix repair)"
    )
