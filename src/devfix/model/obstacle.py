"""Why a program cannot run here, where that has nothing to do with its devices."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Lack(Enum):
    """What a program misses on this machine."""

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
    """What a program misses: `message` says in one line what and where, `advice` what can be done."""

    lack: Lack
    message: str
    advice: str
