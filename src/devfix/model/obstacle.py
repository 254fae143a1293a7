"""Why a program cannot run on this machine, for a reason unrelated to devices."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Lack(Enum):
    """A kind of thing that a program lacks on this machine."""

    PACKAGE = "missing-package"
    MODULE = "missing-module"  # of the repository itself
    FILE = "missing-file"
    PROGRAM = "missing-program"
    INPUT = "closed-input"
    NETWORK = "no-network"
    TRITON = "needs-triton"
    COMPILER = "needs-compiler"
    KERNEL = "needs-compiled-kernel"


@dataclass(frozen=True)
class Obstacle:
    """Something that a program lacks: `message` is one line with the location, `advice` how to provide it."""

    lack: Lack
    message: str
    advice: str
