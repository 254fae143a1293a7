"""Every record that flows through devfix, from the target to the report.

All records are frozen and made of the standard library alone. Paths of owned files are relative to the repository and
use forward slashes; paths of foreign files are absolute. Lines count from 1, columns from 0 in UTF-8 bytes, as in
`code.co_positions()`. Devices are strings as `str(torch.device)` gives them: "cpu", "cuda:0".
"""

from devfix.model.failure import Argument, Call, Failure, Frame, Recipe
from devfix.model.obstacle import Lack, Obstacle
from devfix.model.patch import Blame, Diagnosis, Edit, Patch, Rejected, Verdict, VerdictOutcome
from devfix.model.report import Fix, Foreign, Guard, OtherRun, Others, Repair, Report
from devfix.model.running import NOWHERE, Computed, Outcome, Reach, Run, Target, Transfer, Visit
from devfix.model.tensors import Binding, Event, Held, Operand, Owner, Values
from devfix.model.world import GpusNeeded, Place, World

__all__ = [
    "NOWHERE",
    "Argument",
    "Binding",
    "Blame",
    "Call",
    "Computed",
    "Diagnosis",
    "Edit",
    "Event",
    "Failure",
    "Fix",
    "Foreign",
    "Frame",
    "GpusNeeded",
    "Guard",
    "Held",
    "Lack",
    "Obstacle",
    "Operand",
    "OtherRun",
    "Others",
    "Outcome",
    "Owner",
    "Patch",
    "Place",
    "Reach",
    "Recipe",
    "Rejected",
    "Repair",
    "Report",
    "Run",
    "Target",
    "Transfer",
    "Values",
    "Verdict",
    "VerdictOutcome",
    "Visit",
    "World",
]
