"""The JSON of `devfix find`: the types from which it is written, and from which find.json is generated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from devfix.model.patch import VerdictOutcome
from devfix.model.report import ReportOutcome
from devfix.report.failure_types import Count, FailureRecord, Line
from devfix.report.types import ErrorRecord

CauseKind = Literal["raises", "handled", "result-on-host", "not-moved", "stale-cache"]
# How likely users meet a finding: high if it came again alone and a rule explains it, medium if it came again alone.
Confidence = Literal["high", "medium", "low"]
Tests = Annotated[tuple[str, ...], Meta(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class ReasonRecord:
    """A test, and why it counts as what it is listed for."""

    test: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class LineRecord:
    """A line of a file."""

    path: str
    line: Line


@dataclass(frozen=True, kw_only=True)
class CauseFixRecord:
    """The result of repairing a cause; without a branch and a commit, no fix was verified."""

    diff: str
    verdict: VerdictOutcome | ReportOutcome
    branch: str
    commit: str
    reason: Annotated[str, Meta(description="why no fix was kept; empty where one was")] = ""
    test: Annotated[str, Meta(description="the path of its regression test; empty where there is none")] = ""
    no_test_reason: Annotated[str, Meta(description="why a fix has no regression test")] = ""


@dataclass(frozen=True, kw_only=True)
class EvidenceRecord:
    """The evidence of a silent finding: the function that test code called, and what keeps the tensor."""

    call: Annotated[str, Meta(description="the function of the code under test that test code has called")]
    entered: Annotated[LineRecord, Meta(description="where that function is: there the tensors on the GPU went in")]
    created: Annotated[LineRecord, Meta(description="where the misplaced tensor was created")]
    attribute: Annotated[str, Meta(description="the class and the attribute of a tensor that did not move")]
    is_told: Annotated[bool, Meta(description="the function was told the GPU by its `device`")] = False


@dataclass(frozen=True, kw_only=True)
class CauseRecord:
    """One bug: where the stray tensor is created, and where the code under test fails by it."""

    kind: CauseKind
    path: str
    line: Annotated[Line, Meta(description="where the stray tensor is created")]
    function: str
    source: str
    failing: LineRecord
    rule: Annotated[str, Meta(description="empty where no rule explains it")]
    title: str
    confidence: Confidence
    confirmed: Annotated[bool, Meta(description="it failed again alone, in a fresh process")]
    tests: Tests
    devices: tuple[str, ...]
    failure: Annotated[
        FailureRecord | None,
        Meta(description="of a silent finding, that of a strict run; null where it did not come again"),
    ]
    evidence: Annotated[EvidenceRecord | None, Meta(description="of a silent finding")] = None
    options: Annotated[
        tuple[str, ...], Meta(description="of pytest, beside --lift, with which its tests fail by it")
    ] = field(default=())
    fix: Annotated[CauseFixRecord | None, Meta(description="of a confirmed cause, with --repair")] = None


@dataclass(frozen=True, kw_only=True)
class FindRecord:
    """The report of `devfix find`."""

    schema: Literal["devfix-find/1"] = "devfix-find/1"
    root: str
    commit: str
    tests: Annotated[Count, Meta(description="those that passed or failed on the CPU")]
    passed_cpu: Count
    passed_lifted: Annotated[Count, Meta(description="of those that pass on the CPU, with their inputs on a GPU")]
    passed_on_gpu_alone: Annotated[
        Count,
        Meta(description="with their inputs on a GPU, of those that need one: they failed or were skipped on the CPU"),
    ] = 0
    skipped: Count
    artefacts: tuple[ReasonRecord, ...]
    failed_cpu: tuple[str, ...]
    failed_lifted: tuple[ReasonRecord, ...]
    left_out: Annotated[
        tuple[ReasonRecord, ...], Meta(description="scripts that fail on the CPU, or need arguments there")
    ] = field(default=())
    missing: Annotated[tuple[str, ...], Meta(description="modules that tests could not import")]
    seconds: Annotated[dict[str, float], Meta(description="elapsed ones, by the pass")]
    processor_seconds: Annotated[
        dict[str, float], Meta(description="as seconds, of the tests of each pass; 0 where it is unknown")
    ] = field(default_factory=dict)
    interrupted: bool
    notes: tuple[str, ...]
    findings: tuple[CauseRecord, ...]
    known: Annotated[tuple[CauseRecord, ...], Meta(description="those that the baseline has")] = field(default=())
    error: Annotated[ErrorRecord | None, Meta(description="why nothing was searched; null where it was")] = None

    @property
    def is_unsearched(self) -> bool:
        """True if no test ran on a GPU: none passes on the CPU, no time was left, or pytest ended before."""
        seen = self.findings or self.known or self.artefacts or self.failed_lifted
        return self.error is None and not seen and self.passed_lifted == self.passed_on_gpu_alone == 0
