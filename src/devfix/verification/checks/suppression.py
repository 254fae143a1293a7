"""Check that a patch fixes a failure and does not only suppress it or move it to another world."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from devfix.model import DeviceType, Edit, Failure, Operand, Outcome, Run, SourceLocation, World
from devfix.verification.edit_map import blocks, fails_in_edits, has_same_root_cause, is_edited, location_before

# With all tensors on one device a backend may select another operator for the same call: attention, matrix products,
# convolutions, norms, recurrent layers and optimizers have several.
_CHOSEN = re.compile(r"mm$|bmm|matmul|linear|mv$|scaled_dot_product|cudnn|convolution|_norm|rnn|lstm|gru|fused|foreach")

# Patches insert operators that move tensors, so those do not show that the failing work is done.
_MOVES = frozenset({"aten::_to_copy", "aten::copy_", "aten::to", "aten::lift_fresh", "aten::detach"})

_SEEN = frozenset({"torch.Tensor.numpy"})  # functions outside of the dispatcher whose success the probe records


def locations_after(place: SourceLocation, edits: Iterable[Edit]) -> tuple[SourceLocation, ...]:
    """Return the lines after the edits that correspond to a location before them.

    If its lines were deleted, these are all lines inserted elsewhere in the file: the code may have been moved there.
    """
    edit = next((each for each in edits if each.path == place.path), None)
    first, last = place.line, place.end_line or place.line
    plain = replace(place, column=None, end_column=None)
    if edit is None:
        return (plain,)
    found = []
    for tag, old_from, old_to, new_from, new_to in blocks(edit):
        begin, end = max(first - 1, old_from), min(last, old_to)
        if begin < end and tag == "equal":
            found.append((begin + new_from - old_from, end + new_from - old_from))
        elif begin < end and new_from < new_to:
            found.append((new_from, new_to))
    found = found or [(start, stop) for tag, _, _, start, stop in blocks(edit) if tag != "equal" and start < stop]
    return tuple(replace(plain, line=start + 1, end_line=stop) for start, stop in found)


def detect_suppression(before: Run, wrong: Operand | None, after: Run, edits: Sequence[Edit]) -> str:
    """Return why the patch only suppresses the failure, or "" if there is no evidence of that.

    Both runs have counted operators at the failing location, `after` at `locations_after`. Without a run before that
    saw the operator fail there, nothing is reported.
    """
    failure = before.failure
    if failure is None or failure.at is None:
        return ""
    if any(has_same_root_cause(failure, wrong, each, edits) for each in after.handled):
        return "it hides the failure: it is raised as before, and caught"
    failed = {visit.op: visit.raised for visit in before.operator_counts}
    if not failed.get(failure.op):
        return ""
    # The uncaught failure of the run before is one of these; a run that fails at the same place has one too.
    caught = failed[failure.op] - 1 + fails_at_same_site(after, failure, edits)
    if any(visit.op == failure.op and visit.raised > caught for visit in after.operator_counts):
        return "it hides the failure: it is raised as before, and caught"
    if ("::" not in failure.op and failure.op not in _SEEN) or fails_at_same_site(after, failure, edits):
        return ""
    ran = {visit.op: visit.completed for visit in before.operator_counts}
    # An operator may fail in another one that it calls (embedding in index_select), which a clean run does not show.
    names = [name for name, count in failed.items() if count]
    more = [visit.op for visit in after.operator_counts if visit.completed > ran.get(visit.op, 0)]
    if any(_is_equivalent_operator(op, name) for op in more for name in names):
        return ""
    # A dtype that the device lacks is cast to another one, perhaps to the tensor's own: what reads it runs.
    if failure.kind == "dtype-on-device" and set(more) - _MOVES:
        return ""
    # If the failing lines are unchanged, any compute operator that runs there shows that they do their work.
    if not any(is_edited(place, edits) for place in locations_after(failure.at, edits)) and set(more) - _MOVES:
        return ""
    return f"it hides the failure: {failure.op} does not run any more where it failed"


def _is_equivalent_operator(op: str, failed: str) -> bool:
    """Return whether an operator does the work of another: the same one, in place or not, or an alternative to it."""
    return op.rstrip("_") == failed.rstrip("_") or bool(_CHOSEN.search(op) and _CHOSEN.search(failed))


def fails_at_same_site(after: Run, failure: Failure, edits: Sequence[Edit]) -> bool:
    """Return whether a run fails at the location of a failure, as it is after the edits."""
    if after.outcome is not Outcome.FAILED or after.failure is None or after.failure.at is None or failure.at is None:
        return False
    there = location_before(after.failure.at, edits)
    last = failure.at.end_line or failure.at.line
    return there.path == failure.at.path and failure.at.line <= there.line <= last


def still_fails(before: Run, run: Run, edits: Sequence[Edit]) -> bool:
    """Return whether another world fails at the fixed line as `before`, in the edit, or where the edit has led it.

    The last is the case if CUDA was taken for granted, and the program now fails on another accelerator.
    """
    failed = before.failure
    if failed is None:
        return False
    if fails_at_same_site(run, failed, edits) or fails_in_edits(run, edits):
        return True
    return failed.kind == "no-device" and _is_led_to(before.world, run)


def _is_led_to(home: World, run: Run) -> bool:
    """Return whether a run failed on an accelerator, other than CUDA, that the world which failed lacks."""
    world, failed = run.world, run.failure
    other = world.device not in (DeviceType.CUDA, home.device)
    return other and run.outcome is Outcome.FAILED and failed is not None and failed.kind != "no-device"
