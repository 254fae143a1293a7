"""Findings, patches, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Literal, get_args

from devfix.model.failure import Failure

# The result of verifying a patch; `Verdict` describes each.
VerdictOutcome = Literal[
    "verified", "progressed", "same-failure", "regressed", "behaviour-changed", "broken", "superseded"
]

RuleAnswer = Literal["blamed", "declined", "failed"]
ConfidenceName = Literal["direct", "nearby", "indirect", "remote", "guess"]
_CONFIDENCE_NAMES: tuple[ConfidenceName, ...] = get_args(ConfidenceName)


class Safety(str, Enum):
    """The safety of a change, safest first."""

    SAFE = "safe"  # it fixes the failure and cannot change the results of a correct run
    LIKELY = "likely"  # it fixes the failure and changes nothing that matters
    UNSURE = "unsure"  # a guess that only a run can verify

    __str__ = str.__str__

    @property
    def risk(self) -> int:
        """0 for the safest, more for others."""
        return list(type(self)).index(self)


class Confidence(IntEnum):
    """The quality of a finding's evidence; candidates of better evidence are tried first."""

    DIRECT = 1  # the trace or the source shows the mistake itself
    NEARBY = 2  # the tensor was created where code could have known the right device
    INDIRECT = 3  # the tensor was never moved, and comes from elsewhere
    REMOTE = 4  # the code that placed it has returned, or is far away
    GUESS = 5  # two tensors met, and one of them has to be moved

    @property
    def word(self) -> ConfidenceName:
        """The name, as reports and the files of rules have it."""
        return _CONFIDENCE_NAMES[self - 1]


@dataclass(frozen=True)
class Finding:
    """A rule's statement about a failure: which operand is wrong (its index), and why, in one sentence.

    `device` is where the operand should be; "" stands for its peer's device.
    """

    operand: int
    reason: str
    confidence: Confidence = Confidence.GUESS
    device: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """A rule's finding, with its failure."""

    rule: str
    title: str
    failure: Failure
    finding: Finding


@dataclass(frozen=True)
class Edit:
    """New contents of one file; `path` is relative to the repository, `line` is the first changed line."""

    path: str
    line: int
    before: bytes
    after: bytes


@dataclass(frozen=True)
class Patch:
    """A candidate: edits that belong together, the reason, and how safe they are.

    `joint`: it also moves other tensors than the one that failed. `recomputes`: its lines compute at each use what was
    computed once. `parts`: the patches of which it was made, each of which starts from the files that the one before
    leads to; none if a rule proposed it as it is.
    """

    rule: str
    title: str
    reason: str
    safety: Safety
    edits: tuple[Edit, ...]
    rank: tuple[int, ...] = ()
    joint: bool = False
    recomputes: bool = False
    parts: tuple[Patch, ...] = ()


@dataclass(frozen=True)
class Rejected:
    """A candidate that was never run, and why: another came first, or a limit was reached."""

    patch: Patch
    reason: str


@dataclass(frozen=True)
class RuleDecision:
    """The decision of a rule about a failure, with its reason.

    `answer` is "blamed", "declined" or "failed" (an error in the rule). `reason` is that of the finding, or why the
    rule declined, "" if it did not say. `precedence` says why a rule that blamed comes after the one before it, and
    `no_changes` why it declined to propose changes, or more of them.
    """

    rule: str
    answer: RuleAnswer
    reason: str = ""
    confidence: Confidence | None = None
    precedence: str = ""
    no_changes: str = ""


@dataclass(frozen=True)
class Verdict:
    """The result of verifying a patch.

    `outcome` is "verified", "progressed" (to a failure with another cause), "same-failure", "regressed" (a world that
    ran before fails now, or code that no run reached would), "behaviour-changed" (other values or output), "broken", or
    "superseded" (verified, but another candidate was kept). `worlds` maps world names to outcomes, `before` to those
    without the patch as far as known. `objections` is further evidence against the patch: other commands of the
    repository, and code that no run has reached. `effects` are other results that the patch has on purpose, such as
    those of layers that are trained from then on. `transfers_before` and `transfers_after` count copies between host
    and devices.
    """

    outcome: VerdictOutcome
    worlds: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    transfers_before: int = 0
    transfers_after: int = 0
    reason: str = ""
    next_failure: Failure | None = None
    objections: tuple[str, ...] = ()
    before: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    effects: tuple[str, ...] = ()
