"""The records that devfix passes from one package to the next, from the target to the report.

All records are frozen and only use the standard library. Paths of owned files are relative to the repository, with
forward slashes; other paths are absolute. Lines count from 1, columns from 0 in UTF-8 bytes, as in
`code.co_positions()`. Devices are strings as `str(torch.device)` returns them: "cpu", "cuda:0".
"""

from devfix.model.failure import Argument, Call, Failure, Frame, Recipe, SilentKind, is_in_place
from devfix.model.job import JobMode, JobOutcome
from devfix.model.obstacle import Lack, Obstacle
from devfix.model.patch import (
    Confidence,
    Diagnosis,
    Edit,
    Finding,
    Patch,
    Rejected,
    RuleDecision,
    Safety,
    Verdict,
    VerdictOutcome,
)
from devfix.model.report import DependencyFault, Fix, OtherRun, Others, RegressionTest, Repair, Report, Taking
from devfix.model.running import (
    NO_COUNTS,
    CountRequest,
    OperatorCount,
    OperatorTotals,
    Outcome,
    Run,
    Target,
    Transfer,
    Untrained,
)
from devfix.model.tensors import Checksum, Event, ModuleOwner, NameRef, Operand, ScopeVariable
from devfix.model.until import Request, Until
from devfix.model.world import DeviceType, GpusNeeded, SourceLocation, World, WorldChoice, is_on_gpu

__all__ = [
    "NO_COUNTS",
    "Argument",
    "Call",
    "Checksum",
    "Confidence",
    "CountRequest",
    "DependencyFault",
    "DeviceType",
    "Diagnosis",
    "Edit",
    "Event",
    "Failure",
    "Finding",
    "Fix",
    "Frame",
    "GpusNeeded",
    "JobMode",
    "JobOutcome",
    "Lack",
    "ModuleOwner",
    "NameRef",
    "Obstacle",
    "Operand",
    "OperatorCount",
    "OperatorTotals",
    "OtherRun",
    "Others",
    "Outcome",
    "Patch",
    "Recipe",
    "RegressionTest",
    "Rejected",
    "Repair",
    "Report",
    "Request",
    "RuleDecision",
    "Run",
    "Safety",
    "ScopeVariable",
    "SilentKind",
    "SourceLocation",
    "Taking",
    "Target",
    "Transfer",
    "Until",
    "Untrained",
    "Verdict",
    "VerdictOutcome",
    "World",
    "WorldChoice",
    "is_in_place",
    "is_on_gpu",
]
