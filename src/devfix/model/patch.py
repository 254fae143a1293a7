"""From what a rule says of a failure to a patch, and what running it showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Literal

from devfix.model.failure import Failure

Safety = Literal["safe", "likely", "unsure"]
# What running a patch showed.
VerdictOutcome = Literal["holds", "moved", "same", "worse", "differs", "broken", "not needed"]


class Confidence(IntEnum):
    """How good the evidence of a finding is; the candidates of better evidence are tried first."""

    DIRECT = 1  # the trace or the source shows the mistake itself
    NEARBY = 2  # the tensor was made in reach of code that knew the right device
    INDIRECT = 3  # nobody moved the tensor, and it came from elsewhere
    REMOTE = 4  # what put it there is over, or far away
    GUESS = 5  # two tensors met, and one of them has to follow


@dataclass(frozen=True)
class Finding:
    """What a rule says of a failure: which operand is wrong (its index), and why, in one sentence.

    `device` is where the operand should be, "" for where its peer is.
    """

    operand: int
    reason: str
    confidence: Confidence = Confidence.GUESS
    device: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """A rule's blame, with the failure it speaks of."""

    rule: str
    title: str
    failure: Failure
    finding: Finding


@dataclass(frozen=True)
class Edit:
    """New contents of one file; `path` is relative to the repository, `line` the first line that changes."""

    path: str
    line: int
    before: bytes
    after: bytes


@dataclass(frozen=True)
class Patch:
    """A candidate: edits that belong together, why, and how safe they are ("safe", "likely", "unsure").

    `joint`: it moves other tensors than the one that failed as well.
    """

    rule: str
    title: str
    reason: str
    safety: Safety
    edits: tuple[Edit, ...]
    rank: tuple[int, ...] = ()
    joint: bool = False


@dataclass(frozen=True)
class Rejected:
    """A candidate that was never run, and why: another came first, or a limit was reached."""

    patch: Patch
    reason: str


@dataclass(frozen=True)
class Verdict:
    """What running a patch showed.

    `outcome` is "holds", "moved" (another failure came instead), "same" (the same failure), "worse" (a world that ran
    before fails now), "differs" (the CPU output changed), "broken", or "not needed" (it holds, and another candidate
    that holds was kept). `worlds` maps world names to outcomes, and `before` to those without the patch, where they are
    known; `against` is what else speaks against the patch: other commands of the repository, and code that no run has
    reached. `transfers` is the number of copies between host and devices before and after.
    """

    outcome: VerdictOutcome
    worlds: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    transfers_before: int = 0
    transfers_after: int = 0
    reason: str = ""
    next_failure: Failure | None = None
    objections: tuple[str, ...] = ()
    before: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
