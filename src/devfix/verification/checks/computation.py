"""Check that a patched program computes what it did before: the same operators, devices and totals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from devfix.model import Edit, Failure, Operand, OperatorCount, OperatorTotals, Run, SourceLocation
from devfix.verification.edit_map import blocks

_CLOSE = 1e-3  # relative to the sum of magnitudes: backends may add in another order


def diff_totals(before: Sequence[Run], after: Run, recomputes: bool = False) -> str:
    """Return how the totals of a patched program differ from those of all runs before it; "" if they do not.

    If the patch `recomputes`, the operators that its own lines run may run oftener, as often as they do there.

    An operator whose count differs between the runs before is ignored. If the values of any operator differ between
    them, the program is random and no values are compared, since one of many may repeat by chance.
    """
    rows = [{each.op: each for each in run.operator_totals} for run in before]
    now = {each.op: each for each in after.operator_totals}
    if not now or not all(rows):
        return ""
    none = OperatorTotals("", 0, 0)
    every = [(op, now.get(op, none), [row.get(op, none) for row in rows]) for op in sorted(now.keys() | rows[0].keys())]
    own = {visit.op: visit.completed for visit in after.operator_counts} if recomputes else {}
    every = [
        (op, new, old) for op, new, old in every if not own.get(op) or _calls_of(new) > _calls_of(old[0]) + own[op]
    ]
    for op, new, old in every:
        if _calls_of(new) != _calls_of(old[0]) and all(_calls_of(other) == _calls_of(old[0]) for other in old):
            return f"{op} runs {_times(_calls_of(new))}, before {_times(_calls_of(old[0]))}"
    if any(_values_differ(old[0], other) for _, _, old in every for other in old):
        return ""
    return next((f"{op} has other results" for op, new, old in every if _values_differ(old[0], new)), "")


def _calls_of(computed: OperatorTotals) -> int:
    return computed.host + computed.device


def _values_differ(one: OperatorTotals, other: OperatorTotals) -> bool:
    return abs(one.total - other.total) > _CLOSE * max(one.size, other.size) + 1e-9


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def moved_work_to_cpu(before: Run, wrong: Operand | None, after: Run) -> str:
    """Return a reason if the patch moved GPU work of the failing operator to the CPU, else "".

    A tensor that the program itself moved to the CPU may be used there, and what an array of NumPy is to receive is
    computed where that is.
    """
    ran, runs = (sum(each.device for each in run.operator_totals) for run in (before, after))
    if after.operator_totals and runs < ran:
        return f"it takes the work off the GPU: {ran} operators ran there before the failure, {runs} do now"
    failure = before.failure
    if failure is None or wrong is None or not failure.op or writes_to_array(failure):
        return ""
    peers = [operand for operand in failure.operands if operand is not wrong]
    known, there = (_at_failure(failure.op, run) for run in (before, after))
    on_host = known.completed - known.device if known is not None else 0  # as where a program checks itself first
    if there is None or there.completed <= on_host or there.device or not peers:
        return ""
    if any(operand.device == "cpu" for operand in peers) or (wrong.device == "cpu" and wrong.transfers):
        return ""
    return f"it takes the work off the GPU: {failure.op} runs on the CPU where it failed"


def _at_failure(op: str, run: Run) -> OperatorCount | None:
    """Return how often an operator ran at the failing line; None if it never did."""
    return next((each for each in run.operator_counts if each.op == op), None)


def writes_to_array(failure: Failure) -> bool:
    """Return whether the failing operator writes into memory that an array of NumPy has as well."""
    created = [(each, each.creation) for each in failure.operands if not each.transfers]
    return any(event is not None and event.kind == "numpy" and failure.writes_to(each) for each, event in created)


def left_gpu(before: Run, after: Run) -> tuple[str, ...]:
    """Return that the failing operator, which ran on GPUs alone where it failed, runs on the CPU there now; else ().

    So it does where a model was moved to the host between two uses, and its input follows it.
    """
    op = before.failure.op if before.failure is not None else ""
    ran, runs = _at_failure(op, before), _at_failure(op, after)
    if ran is None or runs is None or not ran.completed or ran.device < ran.completed or runs.device >= runs.completed:
        return ()
    return (
        f"{op} ran on a GPU where it failed, {_times(ran.completed)}, and runs on the CPU there now,"
        f" {_times(runs.completed - runs.device)}",
    )


def edited_places(edits: Iterable[Edit]) -> tuple[SourceLocation, ...]:
    """Return the lines that edits changed or inserted, in the edited files."""
    return tuple(
        SourceLocation(edit.path, start + 1, end_line=stop, owned=True)
        for edit in edits
        for tag, _, _, start, stop in blocks(edit)
        if tag != "equal" and start < stop
    )


def extra_gpu_work(before: Run, home: Run, without: Run, edits: Iterable[Edit]) -> str:
    """Return what edited lines compute on a GPU but not in the world without one; "" if nothing.

    Both runs with the patch have counted at `edited_places`, the one before it where it failed: what ran on the GPU
    there is the program's. Some functions of PyTorch compute by other operators on a GPU, such as `one_hot`. Lines
    that never run without a GPU are ignored unless they are new, and so are those that fail there, at a `.cuda()`.
    """
    edits = tuple(edits)
    stopped = without.failure.at if without.failure is not None else None
    if stopped is not None and any(
        each.path == stopped.path and each.line <= stopped.line <= (each.end_line or each.line)
        for each in edited_places(edits)
    ):
        return ""
    is_new = all(tag in ("equal", "insert") for edit in edits for tag, *_ in blocks(edit))
    if (not without.operator_counts and not is_new) or without.ended:
        return ""
    known = {visit.op.rstrip("_") for visit in without.operator_counts}
    known |= {visit.op.rstrip("_") for visit in before.operator_counts if visit.device}
    apart = sorted(
        visit.op
        for visit in home.operator_counts
        if visit.is_compute and visit.completed and visit.op.rstrip("_") not in known
    )
    return f"its lines compute on the GPU what they do not without one: {apart[0]}" if apart else ""
