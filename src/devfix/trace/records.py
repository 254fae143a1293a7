"""The records of a trace (docs/reference/trace-format.md), from which its JSON is decoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from devfix.model import Failure, Frame, OperatorCount, OperatorTotals, ScopeVariable, Transfer, Untrained
from devfix.model.running import Generator


@dataclass(frozen=True)
class Process:
    """The process that wrote a trace, its parent, and its version of torch."""

    pid: int = 0
    parent: int = 0
    torch: str = ""


@dataclass(frozen=True)
class GpusAsked:
    """The numbers of GPUs that a program requested beyond those of its world.

    By index, by processes of NCCL, and in `CUDA_VISIBLE_DEVICES`.
    """

    ordinals: int = 0
    processes: int = 0
    listed: int = 0


@dataclass(frozen=True)
class Trace:
    """One process's trace; after `read_all`, owned paths are relative to the worktree.

    `blind` says why the world could not be entered, "" if it could. `internal_errors` are those of the probe, and
    `notes` what the program did that explains a result. `imported` are modules of other packages.
    """

    schema: Literal["devfix-trace/1"]
    process: Process = Process()
    asked: GpusAsked = GpusAsked()
    failure: Failure | None = None
    handled: tuple[Failure, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    watched: tuple[Frame, ...] = ()
    imported: tuple[str, ...] = ()
    modules: tuple[ScopeVariable, ...] = ()
    operator_counts: tuple[OperatorCount, ...] = ()
    operator_totals: tuple[OperatorTotals, ...] = ()
    unseeded: tuple[Generator, ...] = ()
    untrained: tuple[Untrained, ...] = ()
    blind: str = ""
    internal_errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
