"""Whether a patched program hands the operator that failed the values that it was given where it failed.

A patch can hand on something else on a GPU alone, with no operator more (`first + first` for `first + bias`): no world
without a GPU shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from devfix.model import Checksum, CountRequest, Diagnosis, Failure, Operand, Run

_CLOSE = 1e-3  # of the sum of all values, without their signs


def expected_checksums(failure: Failure | None, diagnosis: Diagnosis) -> tuple[Checksum, ...]:
    """The values that the failing operator must be given once the blamed tensor is mended; empty where none are known.

    Where that was drawn at random, a mend may have it drawn on a GPU, whose numbers are others, as are all after them.
    """
    if failure is None or not failure.operands or "::" not in failure.op:
        return ()
    if any(event.kind == "random" for event in failure.operands[diagnosis.finding.operand].history):
        return ()
    return tuple(each.values for each in failure.operands if each.values is not None and not _is_unset(each))


def detect_operand_change(
    before: Run,
    diagnosis: Diagnosis,
    reach: CountRequest,
    after: Run,
    plain: Callable[[], Run],
    patched: Callable[[CountRequest], Run],
) -> str:
    """How a patched program, run with `reach`, hands other values to the operator that failed; "" where it does not.

    Before that is said, `plain` runs the program once more without the patch, and `patched` with it, to look for what
    repeats from run to run alone.
    """
    if before.failure is None or not misses_expected(before.failure, reach, after):
        return ""
    again = plain().failure
    if again is None:
        return ""
    steady = replace(reach, expected_values=expected_checksums(_repeating(before.failure, again), diagnosis))
    if steady != reach and not (steady.expected_values and misses_expected(before.failure, steady, patched(steady))):
        return ""
    return f"where it failed {before.failure.op} is given other values than it was"


def misses_expected(failure: Failure, reach: CountRequest, after: Run) -> bool:
    """Return whether a run with `reach` never gave the failing operator the values that were looked for."""
    visit = next((visit for visit in after.operator_counts if visit.op == failure.op and visit.completed), None)
    return bool(reach.expected_values) and visit is not None and not visit.saw_expected_values


def _is_unset(operand: Operand) -> bool:
    """Whether nothing was seen to give the operand values: its memory is as it was found."""
    return len(operand.history) == 1 and "empty" in operand.history[0].op


def _repeating(failure: Failure, again: Failure) -> Failure:
    """The failure without the values that its operands did not have when it came again."""
    others: list[Checksum | None] = [each.values for each in again.operands]
    if len(others) != len(failure.operands):
        others = [None for _ in failure.operands]

    def kept(operand: Operand, other: Checksum | None) -> Operand:
        repeats = operand.values is not None and other is not None and _are_close(operand.values, other)
        return operand if repeats else replace(operand, values=None)

    return replace(failure, operands=tuple(map(kept, failure.operands, others)))


def _are_close(one: Checksum, other: Checksum) -> bool:
    return abs(one.total - other.total) <= _CLOSE * max(one.size, other.size) + 1e-9
