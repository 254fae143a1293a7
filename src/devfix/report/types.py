"""The types from which a report's JSON is written and read, and from which schema.json is generated.

Paths of files in the repository are relative to it, with forward slashes; others are absolute. Lines count from 1.
Readers must ignore members they do not know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from devfix.model import Obstacle, OtherRun, Outcome
from devfix.model.patch import ConfidenceName, RuleAnswer, Safety, VerdictOutcome
from devfix.model.report import ReportOutcome
from devfix.model.running import Direction
from devfix.report.failure_types import Count, FailureRecord, Line, PlaceRecord, WorldRecord

Seconds = Annotated[float, Meta(ge=0, le=1e9)]  # JSON's 1e400 is an infinity, which JSON cannot express
_END = r"$(?!\n)"  # Python's `$` also matches before a trailing line feed
CommitId = Annotated[str, Meta(pattern="^([0-9a-f]{40}|[0-9a-f]{64})" + _END)]
CommitIdOrNone = Annotated[str, Meta(pattern="^([0-9a-f]{40}|[0-9a-f]{64})?" + _END, description="what was repaired")]
FailureIndex = Annotated[int, Meta(ge=0, description="an index into the failures")]


@dataclass(frozen=True, kw_only=True)
class EditRecord:
    """A change of one file."""

    path: str
    line: Line
    diff: str


@dataclass(frozen=True, kw_only=True)
class CopiesRecord:
    """The number of copies between host and devices without the patch and with it."""

    before: Count
    after: Count


@dataclass(frozen=True, kw_only=True)
class VerdictRecord:
    """The result of verifying a patch."""

    outcome: VerdictOutcome
    worlds: dict[str, str]
    before: Annotated[dict[str, str], Meta(description="results without the patch, of the worlds that were run")] = (
        field(default_factory=dict)
    )
    transfers: CopiesRecord
    reason: str = ""
    objections: Annotated[
        tuple[str, ...],
        Meta(description="further evidence against it: other commands of the repository, code that no run has reached"),
    ] = ()
    effects: Annotated[
        tuple[str, ...],
        Meta(description="results that it changes on purpose: what it registers is trained from then on"),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class BeforeAfter:
    """The results of a run without a fix and with it."""

    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class RegressionTestRecord:
    """A new file with a test of the fix."""

    path: str
    text: str
    exercises: Annotated[str, Meta(description="what it runs")]
    passes_after_fix: Annotated[int, Meta(ge=0, description="an index into the fixes: the one with which it passes")]
    worlds: dict[str, BeforeAfter]


@dataclass(frozen=True, kw_only=True)
class FixRecord:
    """A patch that was run, and its verdict."""

    failure: FailureIndex = 0
    rule: str
    title: str
    reason: str
    safety: Safety
    edits: tuple[EditRecord, ...]
    verdict: VerdictRecord
    regression_test: RegressionTestRecord | None = None
    no_test_reason: Annotated[str, Meta(description="why there is no test, if tests were requested")] = ""
    similar_sites: Annotated[
        tuple[EditRecord, ...], Meta(description="the same fault elsewhere, with an edit that was not applied")
    ] = ()


@dataclass(frozen=True, kw_only=True)
class NotKeptRecord:
    """A candidate that was not kept, run or not."""

    failure: FailureIndex
    rule: str
    title: str
    path: str
    line: Line
    tried: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class RuleRecord:
    """The decision of a rule about a failure: those that blamed come first, in the order of their precedence."""

    failure: FailureIndex
    rule: str
    answer: RuleAnswer
    reason: Annotated[str, Meta(description="of the finding, or why the rule declined; empty if it did not say")] = ""
    confidence: Annotated[ConfidenceName | Literal[""], Meta(description="of the finding")] = ""
    precedence: Annotated[str, Meta(description="why the rule comes after the one before it")] = ""
    no_changes: Annotated[str, Meta(description="why it declined to propose changes, or more of them")] = ""


@dataclass(frozen=True, kw_only=True)
class LeftOutRecord:
    """A command that was not run, and why."""

    command: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class OthersRecord:
    """The repository's other commands that reach the fixes, each run before a fix and with it."""

    seconds: Annotated[float, Meta(ge=0, le=1e9, description="the budget for all of them")]
    ran: tuple[OtherRun, ...]
    left_out: tuple[LeftOutRecord, ...]


@dataclass(frozen=True, kw_only=True)
class RemainingFailureRecord:
    """The failure, unrelated to devices, with which a repaired program ends as it does without a GPU."""

    exit_code: int | None
    exception: Annotated[str, Meta(description="empty if there was none")]
    message: str
    at: PlaceRecord | None
    text: Annotated[str, Meta(description="the end of stderr, else of stdout")]


@dataclass(frozen=True, kw_only=True)
class DependencyFaultRecord:
    """The installed distribution that is at fault, and the change that made a copy of it run."""

    distribution: str
    version: str
    path: Annotated[str, Meta(description="relative to the folder of installed packages")]
    line: Line
    reason: str
    diff: str
    pin: Annotated[str, Meta(description="the newest release that runs clean, if one was searched for and found")]
    pin_edits: tuple[EditRecord, ...]


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """The outcome of the last run of a repair."""

    outcome: Outcome
    exit_code: int | None
    signal: str
    seconds: Seconds
    stdout: str = ""
    stderr: str = ""
    torch: str = ""
    internal_errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ended: Annotated[
        str, Meta(description="what it had done when it was ended as requested, with --for, --until or --steps-after")
    ] = ""


@dataclass(frozen=True, kw_only=True)
class ModuleRecord:
    """A module of a device map; `device` is "mixed" on several devices."""

    expression: str
    type: str
    device: str
    tensors: dict[str, Count]


@dataclass(frozen=True, kw_only=True)
class TransferRecord(PlaceRecord):
    """The copies between devices that a line made."""

    direction: Direction
    count: Count
    bytes: Count


@dataclass(frozen=True, kw_only=True)
class DeviceMapRecord:
    """The devices of all modules at the end of a run, and the lines that copied between devices."""

    modules: tuple[ModuleRecord, ...]
    transfers: tuple[TransferRecord, ...]


@dataclass(frozen=True, kw_only=True)
class GpusNeededRecord:
    """The number of GPUs that the program needs, if it was given fewer at first."""

    given: Count
    needed: Annotated[int, Meta(ge=1)]
    reason: Annotated[str, Meta(description="the evidence")]
    met: Annotated[bool, Meta(description="it was then run with as many; otherwise use --gpus")]


@dataclass(frozen=True, kw_only=True)
class ErrorRecord:
    """An error of devfix, or wrong usage."""

    message: str
    log: Annotated[str, Meta(description="a file for a bug report; empty for wrong usage")]


@dataclass(frozen=True, kw_only=True)
class ReportRecord:
    """The result of devfix repair."""

    schema: Literal["devfix-report/1"] = "devfix-report/1"
    outcome: ReportOutcome
    world: WorldRecord | None
    command: Annotated[str, Meta(description="the command that was run, quoted for a shell")]
    until: Annotated[tuple[str, ...], Meta(description="the options that say when the program is ended")] = ()
    subfolder: Annotated[str, Meta(description="the folder in which it was run, empty for the repository's root")] = ""
    commit: CommitIdOrNone
    failures: tuple[FailureRecord, ...] = ()
    fixes: Annotated[tuple[FixRecord, ...], Meta(description="the kept fixes, in the order of the commits")] = ()
    rejected: Annotated[tuple[FixRecord, ...], Meta(description="candidates that were run and not kept")] = ()
    not_kept: Annotated[
        tuple[NotKeptRecord, ...],
        Meta(description="every candidate that was not kept: those of `rejected`, and those that were never run"),
    ] = ()
    rules: Annotated[tuple[RuleRecord, ...], Meta(description="what each rule decided about each failure")] = ()
    branch: Annotated[str, Meta(description="empty if none was created")] = ""
    commits: tuple[CommitId, ...] = ()
    applied: Annotated[
        tuple[str, ...], Meta(description="files of the working tree that the fixes were written to")
    ] = ()
    not_applied: Annotated[str, Meta(description="why nothing was written there, if that was requested")] = ""
    diff: Annotated[str, Meta(description="the diff of all fixes")] = ""
    seconds: dict[str, Seconds] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    last_run: RunRecord | None = None
    others: OthersRecord | None = None
    remaining_failure: RemainingFailureRecord | None = None
    dependency_fault: DependencyFaultRecord | None = None
    gpus_needed: GpusNeededRecord | None = None
    obstacle: Obstacle | None = None
    device_maps: Annotated[
        tuple[DeviceMapRecord, ...],
        Meta(description="with --map: that of a run without the fixes and, if there are fixes, of one with them"),
    ] = ()
    error: ErrorRecord | None = None


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """The result of devfix run."""

    schema: Literal["devfix-run/1"] = "devfix-run/1"
    outcome: Outcome
    world: WorldRecord
    command: str
    exit_code: int | None
    signal: str
    seconds: Seconds
    torch: str
    failure: FailureRecord | None
    modules: tuple[ModuleRecord, ...]
    transfers: tuple[TransferRecord, ...]
    internal_errors: tuple[str, ...]
    notes: tuple[str, ...] = ()
    gpus_needed: GpusNeededRecord | None = None
    obstacle: Obstacle | None = None
