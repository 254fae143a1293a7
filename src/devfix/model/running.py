"""A program, and the results of running it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal

from devfix.model.failure import Failure
from devfix.model.obstacle import Obstacle
from devfix.model.tensors import Checksum, ScopeVariable
from devfix.model.until import Until
from devfix.model.world import SourceLocation, World


@dataclass(frozen=True)
class Target:
    """The program to repair: a commit of a repository, and how the program is run.

    `until`: it does not end by itself, and is ended.
    """

    root: Path
    commit: str
    command: tuple[str, ...]
    python: Path
    world: World
    timeout: float
    subfolder: str = ""
    exclude: tuple[str, ...] = ()
    until: Until | None = None


Direction = Literal["to-device", "to-host", "between-devices"]
Generator = Literal["torch", "random", "numpy"]  # of random numbers


@dataclass(frozen=True)
class Transfer:
    """Copies between devices made by one source line; `direction` is "to-device", "to-host" or "between-devices"."""

    place: SourceLocation
    direction: Direction
    count: int
    bytes: int


@dataclass(frozen=True)
class CountRequest:
    """The locations at which a run counts operators, and the operand checksums that it looks for there.

    With `steps`, the run may be ended once an operator has run so often there. `untrained` names attributes of modules
    whose parameters are looked for in `Run.untrained`.
    """

    locations: tuple[SourceLocation, ...] = ()
    expected_values: tuple[Checksum, ...] = ()
    steps: int = 0
    untrained: tuple[str, ...] = ()


NO_COUNTS = CountRequest()


@dataclass(frozen=True)
class OperatorCount:
    """The counts of an operator at the requested locations: how often it completed there, and how often it failed.

    `is_compute`: it computes values, and the program called it there itself, not through a function of torch; other
    operators create, move, index, join or view tensors. `device` counts the results on a device. `saw_expected_values`:
    it was once given all of `CountRequest.expected_values`.
    """

    op: str
    completed: int
    raised: int
    is_compute: bool = True
    device: int = 0
    saw_expected_values: bool = False


@dataclass(frozen=True)
class OperatorTotals:
    """The totals of an operator in a run: how often its results were on the host and on devices, and their values.

    `total` is a weighted sum over the values of all results, `size` the sum of their magnitudes; both are only known in
    the CPU world.
    """

    op: str
    host: int
    device: int
    total: float = 0.0
    size: float = 0.0


@dataclass(frozen=True)
class Untrained:
    """Parameters in a plain container of a module that get gradients, and that no optimizer has.

    `type` is the class of the module, which trains others; `attribute` has the container, with `parameters` tensors of
    `values` numbers in all.
    """

    type: str
    attribute: str
    parameters: int
    values: int


class Outcome(Enum):
    """The outcome of a run of the program."""

    CLEAN = "clean"
    FAILED = "failed"  # a device failure: `Run.failure`
    OTHER = "failed otherwise"  # another exception, or an exit code without one
    TIMEOUT = "timed out"
    SIGNAL = "killed by a signal"
    NOT_STARTED = "did not start"
    UNOBSERVED = "not observed"  # it ended well, but without a probe in every process that used torch


@dataclass(frozen=True)
class Run:
    """One run of the program in one world; errors of devfix itself are in `internal_errors`,
    and what the program did that explains a result in `notes`.

    `handled` are the device failures that a program caught, unless it ended by one, and `logged` the first of them that
    it reported or that changed its results. `unobserved` says which processes used torch without a probe, and why.
    `unseeded` names the generators from which it drew before seeding them. `gpus_asked` is how many GPUs the
    program asked for if the world has fewer, else 0; `gpus_listed` of them by `CUDA_VISIBLE_DEVICES`. `ended` says what
    a program had done that devfix ended, as was requested: it is clean if nothing failed until then. `obstacle` is what
    the program lacks on this machine, if known. `processor` counts the seconds of processor time that the program took,
    `core_wait` those for which it waited for a core that others had, and `memory` the most bytes; 0 if unknown, as in a
    warm process. `imported` names the modules of other packages that
    it imported, in their order; none if it changed its environment.
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
    imported: tuple[str, ...] = ()
    modules: tuple[ScopeVariable, ...] = ()
    torch: str = ""
    signal: str = ""
    internal_errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    operator_counts: tuple[OperatorCount, ...] = ()
    operator_totals: tuple[OperatorTotals, ...] = ()
    handled: tuple[Failure, ...] = ()
    logged: Failure | None = None
    unobserved: tuple[str, ...] = ()
    unseeded: tuple[Generator, ...] = ()
    untrained: tuple[Untrained, ...] = ()
    gpus_asked: int = 0
    gpus_listed: int = 0
    obstacle: Obstacle | None = None
    ended: str = ""
    processor: float = 0.0
    core_wait: float = 0.0
    memory: int = 0

    @property
    def ending(self) -> str:
        """The outcome of the run, in words."""
        return self.ended if self.ended and self.outcome is Outcome.CLEAN else self.outcome.value

    @property
    def caught(self) -> tuple[str, ...]:
        """A sentence for each device failure that the program caught at a known location."""
        return tuple(
            f"the program catches a device failure at {each.at.shown} and goes on ({each.summary})"
            for each in self.handled
            if each.at is not None and each.summary
        )

    @property
    def copies(self) -> int:
        """The number of copies between host and devices that the program made."""
        return sum(transfer.count for transfer in self.transfers)
