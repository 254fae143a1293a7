"""A program, and what one run of it showed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal

from devfix.model.failure import Failure
from devfix.model.obstacle import Obstacle
from devfix.model.tensors import Checksum, ScopeVariable
from devfix.model.world import SourceLocation, World


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


Direction = Literal["to-device", "to-host", "between-devices"]


@dataclass(frozen=True)
class Transfer:
    """Copies between devices made by one source line; `direction` is "to-device", "to-host" or "between-devices"."""

    place: SourceLocation
    direction: Direction
    count: int
    bytes: int


@dataclass(frozen=True)
class CountRequest:
    """Where a run counts what operators do, and for which values it looks there: those that one of them was given."""

    locations: tuple[SourceLocation, ...] = ()
    expected_values: tuple[Checksum, ...] = ()


NO_COUNTS = CountRequest()


@dataclass(frozen=True)
class OperatorCount:
    """What an operator did at the places asked for: how often it ran to its end there, and how often it failed.

    `works` says whether it works on values and was called there by the program itself, and not by a function of torch;
    others make, move, cut, join or view tensors. `device` counts the results on a device. `same` says whether it was
    once given all the values that were looked for (`Reach.given`).
    """

    op: str
    completed: int
    raised: int
    is_compute: bool = True
    device: int = 0
    saw_expected_values: bool = False


@dataclass(frozen=True)
class OperatorTotals:
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
    UNOBSERVED = "not observed"  # it ended well, but devfix was not in every process that used torch


@dataclass(frozen=True)
class Run:
    """One run of the program in one world; trouble with our own traces is data in `trouble`.

    `handled` are the device failures that a program which ended well has caught, in their order, and `logged` the first
    of them whose message it printed. `unobserved` says which processes used torch without being observed, and why.
    `unseeded` names the generators ("torch", "random", "numpy") from which it drew before it had seeded them.
    `gpus_asked` is how many GPUs the program asked for where the world has fewer, 0 where they were enough.
    `obstacle` is what the program misses here, where somebody has looked for it.
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
    watched: tuple[tuple[SourceLocation, tuple[ScopeVariable, ...]], ...] = ()
    modules: tuple[ScopeVariable, ...] = ()
    torch: str = ""
    signal: str = ""
    internal_errors: tuple[str, ...] = ()
    operator_counts: tuple[OperatorCount, ...] = ()
    operator_totals: tuple[OperatorTotals, ...] = ()
    handled: tuple[Failure, ...] = ()
    logged: Failure | None = None
    unobserved: tuple[str, ...] = ()
    unseeded: tuple[str, ...] = ()
    gpus_asked: int = 0
    obstacle: Obstacle | None = None

    @property
    def caught(self) -> tuple[str, ...]:
        """A sentence for each device failure that the program has caught at a place that is known."""
        return tuple(
            f"the program catches a device failure at {each.at.path}:{each.at.line} and goes on"
            f" ({each.message.strip().splitlines()[0][:120]})"
            for each in self.handled
            if each.at is not None and each.message.strip()
        )

    @property
    def copies(self) -> int:
        """How many copies between host and devices the program made."""
        return sum(transfer.count for transfer in self.transfers)
