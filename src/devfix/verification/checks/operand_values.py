"""Check that the failing operator still receives the same operand values after the patch.

A patch may substitute another tensor on the GPU only, with no additional operator (`first + first` for `first + bias`),
so that no world without a GPU shows the difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from devfix.model import Checksum, CountRequest, Diagnosis, Failure, Operand, Run

_CLOSE = 1e-3  # relative to the sum of magnitudes
# Operators that compute a whole function, whose parts run instead if an argument is on another device.
FUSED = re.compile(
    r"aten::_(scaled_dot_product_\w*attention|flash_attention|efficient_attention|transformer_encoder_layer_fwd"
    r"|native_multi_head_attention|thnn_fused_\w+_cell|cudnn_rnn)"
)


def expected_checksums(failure: Failure | None, diagnosis: Diagnosis) -> tuple[Checksum, ...]:
    """Return the checksums that the failing operator must receive once the blamed tensor is moved; empty if unknown.

    If the blamed tensor was drawn at random, a fix may draw it on a GPU, which gives other numbers from there on.
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
    """Return how a patched program, run with `reach`, passes other values to the failing operator; "" if it does not.

    To exclude values that change from run to run, `plain` runs the program again without the patch and `patched` with
    it.
    """
    if before.failure is None or not misses_expected(before, reach, after):
        return ""
    again = plain().failure
    if again is None:
        return ""
    steady = replace(reach, expected_values=expected_checksums(_repeating(before.failure, again), diagnosis))
    if steady != reach and not (steady.expected_values and misses_expected(before, steady, patched(steady))):
        return ""
    return f"where it failed {before.failure.op} is given other values than it was"


def misses_expected(before: Run, reach: CountRequest, after: Run) -> bool:
    """Return whether a run with `reach` never passed the expected values to the operator that failed in `before`.

    An operator may fail in a part of it (`torch.sparse.mm` in addmm), which a clean run does not show, although it may
    show another call of the part on the same line, as of a linear layer. So the values may be those of the whole. If
    one that computes the whole at once runs in place of the parts, they are not known: attention with a mask on the
    host is computed part by part, and with one on a GPU by one kernel.
    """
    failed = before.failure
    if failed is None or not reach.expected_values:
        return False
    names = {failed.op, *(visit.op for visit in before.operator_counts if visit.raised)}
    whole = {visit.op for visit in after.operator_counts if visit.completed and FUSED.match(visit.op)}
    if whole - {visit.op for visit in before.operator_counts if visit.completed}:
        return False
    ran = [visit for visit in after.operator_counts if visit.completed and visit.op in names]
    return any(visit.op == failed.op for visit in ran) and not any(visit.saw_expected_values for visit in ran)


def _is_unset(operand: Operand) -> bool:
    """Return whether the operand's memory was never written, as far as the trace shows."""
    return len(operand.history) == 1 and "empty" in operand.history[0].op


def _repeating(failure: Failure, again: Failure) -> Failure:
    """Return the failure without the operand values that were different when it occurred again."""
    others: list[Checksum | None] = [each.values for each in again.operands]
    if len(others) != len(failure.operands):
        others = [None for _ in failure.operands]

    def repeated(operand: Operand, other: Checksum | None) -> Operand:
        repeats = operand.values is not None and other is not None and _are_close(operand.values, other)
        return operand if repeats else replace(operand, values=None)

    return replace(failure, operands=tuple(map(repeated, failure.operands, others)))


def _are_close(one: Checksum, other: Checksum) -> bool:
    return abs(one.total - other.total) <= _CLOSE * max(one.size, other.size) + 1e-9
