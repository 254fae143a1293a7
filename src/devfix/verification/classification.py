"""Classify the run of a candidate in the world that failed."""

from __future__ import annotations

from devfix.model import Diagnosis, Outcome, Patch, Run, VerdictOutcome
from devfix.verification.candidate import where
from devfix.verification.checks.computation import moved_work_to_cpu
from devfix.verification.checks.stdout import last_line
from devfix.verification.checks.suppression import detect_suppression
from devfix.verification.edit_map import has_same_root_cause, involves_moved_tensor, undoes_needed_move
from devfix.verification.objections.introduced import find_introduced

_HOST = ("numpy-on-device", "lengths-device", "pin-memory")  # failures of what is needed on the host


def classify_run(
    before: Run, after: Run, patch: Patch, diagnosis: Diagnosis, ends_well: bool
) -> tuple[VerdictOutcome, str]:
    """Return the outcome of a run with a patch, and the reason.

    `ends_well`: it is clean, or fails for the reason for which the program fails without a GPU and without the patch.
    """
    failure = before.failure
    operands = failure.operands if failure is not None else ()
    wrong = operands[diagnosis.finding.operand] if operands else None
    if not ends_well:
        if after.outcome is not Outcome.FAILED or after.failure is None or failure is None:
            return "broken", f"the program {after.outcome.value}: {last_line(after)}"
        there = where(after.failure)
        if has_same_root_cause(failure, wrong, after.failure, patch.edits):
            is_same_place = after.failure.at == failure.at and after.failure.operations == failure.operations
            moved = f"it only moves the crash to {there}: same cause"
            return "same-failure", "the same failure comes again" if is_same_place else moved
        if undoes_needed_move(failure, wrong, after.failure, patch.edits):
            return "same-failure", f"it undoes a move that {there} needs"
        if after.failure.operations < failure.operations:
            return "broken", f"it fails earlier, at {there}"
    suppressed = detect_suppression(before, wrong, after, patch.edits)
    if reason := suppressed or moved_work_to_cpu(before, wrong, after):
        return "broken", reason
    if ends_well:
        is_clean = after.outcome is Outcome.CLEAN
        return "verified", "" if is_clean else f"then it fails as it does without a GPU: {last_line(after)}"
    if patch.joint and after.failure is not None and involves_moved_tensor(after.failure, patch.edits):
        return "broken", f"it moves more than what failed, and one of the others fails at {there}"
    if after.failure is not None and after.failure.kind in _HOST and _leaves_on_gpu(patch):
        return "broken", f"it leaves on the GPU what is needed on the host at {there}"
    return "progressed", f"the next failure has a cause of its own, at {there}"


def _leaves_on_gpu(patch: Patch) -> bool:
    """Return whether a patch removes a `.cpu()`."""
    return any(each.kind == "dropped" for each in find_introduced(patch.edits))
