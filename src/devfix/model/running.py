"""A program, and what one run of it showed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from devfix.model.failure import Failure
from devfix.model.tensors import Binding, Values
from devfix.model.world import Place, World


@dataclass(frozen=True)
class Target:
    """What is to be repaired: a commit of a repository, and how its program is run."""

    root: Path
    commit: str
    command: tuple[str, ...]
    python: Path
    world: World
    timeout: float
    subfolder: str = ""
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class Transfer:
    """Copies between devices made by one source line; `direction` is "to-device", "to-host" or "between-devices"."""

    place: Place
    direction: str
    count: int
    bytes: int


@dataclass(frozen=True)
class Reach:
    """Where a run counts what operators do, and for which values it looks there: those that one of them was given."""

    places: tuple[Place, ...] = ()
    given: tuple[Values, ...] = ()


NOWHERE = Reach()


@dataclass(frozen=True)
class Visit:
    """What an operator did at the places asked for: how often it ran to its end there, and how often it failed.

    `works` says whether it works on values and was called there by the program itself, and not by a function of torch;
    others make, move, cut, join or view tensors. `device` counts the results on a device. `same` says whether it was
    once given all the values that were looked for (`Reach.given`).
    """

    op: str
    ran: int
    failed: int
    works: bool = True
    device: int = 0
    same: bool = False


@dataclass(frozen=True)
class Computed:
    """What an operator computed in a run: how often its results lay on the host and on devices, and their values.

    `total` is a weighted sum over the values of all results, `size` that of its parts without their signs; both are
    known in the CPU world alone.
    """

    op: str
    host: int
    device: int
    total: float = 0.0
    size: float = 0.0


class Outcome(Enum):
    """What a run of the program said."""

    CLEAN = "clean"
    FAILED = "failed"  # a device failure: `Run.failure` tells it
    OTHER = "failed otherwise"  # another exception, or an exit code without one
    TIMEOUT = "timed out"
    SIGNAL = "killed by a signal"
    NOT_STARTED = "did not start"


@dataclass(frozen=True)
class Run:
    """One run of the program in one world; trouble with our own letters is data in `trouble`.

    `handled` is the last device failure that a program which ended well has caught.
    """

    world: World
    command: tuple[str, ...]
    outcome: Outcome
    exit_code: int | None
    seconds: float
    stdout: str = ""
    stderr: str = ""
    failure: Failure | None = None
    transfers: tuple[Transfer, ...] = ()
    watched: tuple[tuple[Place, tuple[Binding, ...]], ...] = ()
    modules: tuple[Binding, ...] = ()
    torch: str = ""
    signal: str = ""
    trouble: tuple[str, ...] = ()
    visits: tuple[Visit, ...] = ()
    computed: tuple[Computed, ...] = ()
    handled: Failure | None = None

    @property
    def copies(self) -> int:
        """How many copies between host and devices the program made."""
        return sum(transfer.count for transfer in self.transfers)
