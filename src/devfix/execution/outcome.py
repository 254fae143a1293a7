"""Combine the traces and the end of a process into a run: the failure that explains it, and its copies."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from devfix.model import Failure, OperatorCount, OperatorTotals, Outcome, Run, SourceLocation, Transfer, World
from devfix.process import Completed
from devfix.trace import Trace


def read_run(
    world: World,
    command: tuple[str, ...],
    done: Completed,
    traces: list[Trace],
    problem: list[str],
    tree: str,
    unseen: tuple[str, ...] = (),
    include_handled: bool = False,
    explained: Collection[Outcome] = (),
) -> Run:
    """Return the run described by a process's end and its traces.

    `tree` is the path to remove from its output; `unseen` names the processes without a probe. With `include_handled` a
    device failure that the program catches counts as its failure, as it does in a run that ends in one of the outcomes
    that such failures have `explained`.
    """
    failure, loud = _failure(traces)
    if failure is not None and world.gpus:
        failure = replace(failure, accelerator=world.device)
    if failure is not None and tree and failure.kind == "other":
        failure = replace(
            failure, message=failure.message.replace(tree, "."), traceback=failure.traceback.replace(tree, ".")
        )
    if done.ended and not (loud and failure is not None and failure.kind != "other"):
        failure, outcome = _classify_ended(done, traces)
    else:
        outcome = _outcome(done, failure, loud)
    blind = ((trace.process.pid, trace.blind) for trace in traces if trace.blind)
    unseen += tuple(f"process {pid} was not on its world's devices: {why}" for pid, why in blind)
    handled = _collect_handled(traces) if outcome in (Outcome.CLEAN, Outcome.TIMEOUT, Outcome.OTHER) else ()
    logged = next((each for each in handled if _is_printed(each, done)), None)
    if handled and (include_handled or outcome in explained):
        failure, outcome = logged or handled[0], Outcome.FAILED
        handled, logged = (), None
    if outcome is Outcome.CLEAN and unseen:
        outcome = Outcome.UNOBSERVED
    return Run(
        world=world,
        command=command,
        outcome=outcome,
        exit_code=done.exit_code,
        seconds=done.seconds,
        # Each run has its own worktree, whose path would make equal outputs differ.
        stdout=done.stdout.replace(tree, "."),
        stderr=done.stderr.replace(tree, "."),
        failure=failure if outcome in (Outcome.FAILED, Outcome.OTHER) else None,
        handled=handled,
        logged=logged,
        gpus_listed=max((trace.asked.listed for trace in traces), default=0),
        gpus_asked=_count_missing_gpus(world, traces, failure if outcome is Outcome.FAILED else None),
        transfers=_sum(traces),
        operator_counts=_visits(traces),
        operator_totals=_sum_totals(traces),
        unseeded=tuple(sorted({name for trace in traces for name in trace.unseeded})),
        untrained=tuple(dict.fromkeys(each for trace in traces for each in trace.untrained)),
        watched=tuple((each.place, each.scope) for trace in traces for each in trace.watched),
        imported=max((trace.imported for trace in traces), key=len, default=()),
        modules=tuple(item for trace in traces for item in trace.modules),
        torch=next((trace.process.torch for trace in traces if trace.process.torch), ""),
        signal=done.signal,
        ended=done.ended if outcome is not Outcome.UNOBSERVED else "",
        processor=done.processor,
        core_wait=done.core_wait,
        memory=done.memory,
        unobserved=unseen,
        internal_errors=(
            *unseen,
            *problem,
            *(error for trace in traces for error in trace.internal_errors),
            *(f"the server failed: {request}" for request in done.failed_requests),
            *filter(None, [done.internal_error]),
        ),
        notes=tuple(dict.fromkeys(note for trace in traces for note in trace.notes)),
    )


def _outcome(done: Completed, failure: Failure | None, loud: bool) -> Outcome:
    if done.timed_out:
        return Outcome.TIMEOUT
    if done.ended:
        return Outcome.FAILED
    if done.internal_error and done.exit_code is None and not done.signal:
        return Outcome.NOT_STARTED
    if done.signal:
        return Outcome.SIGNAL
    if failure is not None and failure.kind != "other" and (loud or done.exit_code != 0):
        return Outcome.FAILED
    return Outcome.CLEAN if done.exit_code == 0 else Outcome.OTHER


def _classify_ended(done: Completed, traces: list[Trace]) -> tuple[Failure | None, Outcome]:
    """Return the failure and the outcome of a program that was ended, and in which nothing failed for good.

    A server catches what a request raises and answers with an error: then the device failure is that of the run.
    """
    caught = _collect_handled(traces)
    if done.failed_requests:
        return (caught[0], Outcome.FAILED) if caught else (None, Outcome.OTHER)
    return None, Outcome.CLEAN


def _failure(traces: list[Trace]) -> tuple[Failure | None, bool]:
    """Return the failure that explains the run, and whether it was uncaught.

    An uncaught device failure takes precedence over other exceptions, since a parent often dies of its child's failure.
    A caught one explains a failing run only if there is no other exception.
    """
    failures = [
        (trace.failure, trace.failure.uncaught, trace.process.pid) for trace in traces if trace.failure is not None
    ]
    order = sorted(failures, key=lambda each: (not (each[1] and each[0].kind != "other"), not each[1], each[2]))
    return (order[0][0], order[0][1]) if order else (None, False)


def _count_missing_gpus(world: World, traces: list[Trace], failure: Failure | None) -> int:
    """Return how many GPUs the program needs if the world has fewer, else 0.

    A GPU index that does not exist counts if the program failed by it; processes of NCCL always count, and so does what
    `CUDA_VISIBLE_DEVICES` names. For real GPUs the index is not recorded: one more than there are is assumed.
    """
    asked = max((max(trace.asked.processes, trace.asked.listed) for trace in traces), default=0)
    if failure is not None and failure.kind == "invalid-ordinal" and world.kind != "cpu":
        asked = max(asked, world.gpus + 1, *(trace.asked.ordinals for trace in traces))
    return asked if asked > world.gpus else 0


def _collect_handled(traces: list[Trace]) -> tuple[Failure, ...]:
    """Return the device failures that the processes caught, those of the first process first."""
    found: list[Failure] = []
    for trace in sorted(traces, key=lambda each: each.process.pid):
        for failure in (*trace.handled, *filter(None, [trace.failure])):
            if failure.kind != "other" and failure not in found:
                found.append(failure)
    return tuple(found)


def _is_printed(failure: Failure, done: Completed) -> bool:
    """Return whether the program printed the failure's message, so that it reported it and did not only fall back."""
    words = failure.message.strip().split("\n")[0][:80]
    return bool(words) and (words in done.stderr or words in done.stdout)


def _sum(traces: list[Trace]) -> tuple[Transfer, ...]:
    totals: dict[tuple[SourceLocation, str], Transfer] = {}
    for trace in traces:
        for each in trace.transfers:
            known = totals.get((each.place, each.direction))
            count, size = (known.count, known.bytes) if known else (0, 0)
            totals[each.place, each.direction] = replace(each, count=each.count + count, bytes=each.bytes + size)
    return tuple(totals.values())


def _visits(traces: list[Trace]) -> tuple[OperatorCount, ...]:
    totals: dict[str, OperatorCount] = {}
    for each in (visit for trace in traces for visit in trace.operator_counts):
        known = totals.get(each.op, OperatorCount(each.op, 0, 0))
        totals[each.op] = OperatorCount(
            each.op,
            known.completed + each.completed,
            known.raised + each.raised,
            each.is_compute,
            known.device + each.device,
            known.saw_expected_values or each.saw_expected_values,
        )
    return tuple(totals.values())


def _sum_totals(traces: list[Trace]) -> tuple[OperatorTotals, ...]:
    totals: dict[str, OperatorTotals] = {}
    for each in (computed for trace in traces for computed in trace.operator_totals):
        known = totals.get(each.op, OperatorTotals(each.op, 0, 0))
        host, device = known.host + each.host, known.device + each.device
        totals[each.op] = OperatorTotals(each.op, host, device, known.total + each.total, known.size + each.size)
    return tuple(totals.values())
