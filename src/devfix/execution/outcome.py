"""Letters and the end of a process -> one run: which failure explains it, and what was copied."""

from __future__ import annotations

from dataclasses import replace

from devfix.model import Computed, Failure, Outcome, Place, Run, Transfer, Visit, World
from devfix.process import Completed
from devfix.trace import Letter


def told(
    world: World,
    command: tuple[str, ...],
    done: Completed,
    letters: list[Letter],
    trouble: list[str],
    tree: str,
    unseen: tuple[str, ...] = (),
    include_handled: bool = False,
) -> Run:
    """The run that a process's end and its letters tell of.

    `tree` is the path to leave out of its output, `unseen` names the processes in which there was no probe. With
    `include_handled` a program that catches a device failure has failed by it.
    """
    failure, loud = _failure(letters)
    if failure is not None and tree and failure.kind == "other":
        failure = replace(
            failure, message=failure.message.replace(tree, "."), traceback=failure.traceback.replace(tree, ".")
        )
    outcome = _outcome(done, failure, loud)
    unseen += tuple(
        f"process {each.pid} was not on its world's devices: {each.blind}" for each in letters if each.blind
    )
    handled = _handled(letters) if outcome is Outcome.CLEAN else ()
    logged = next((each for each in handled if _is_printed(each, done)), None)
    if handled and include_handled:
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
        # Each run has a worktree of its own, so its name would make equal outputs differ.
        stdout=done.stdout.replace(tree, "."),
        stderr=done.stderr.replace(tree, "."),
        failure=failure if outcome in (Outcome.FAILED, Outcome.OTHER) else None,
        handled=handled,
        logged=logged,
        gpus_asked=_gpus_asked(world, letters, failure if outcome is Outcome.FAILED else None),
        transfers=_sum(letters),
        visits=_visits(letters),
        computed=_computed(letters),
        unseeded=tuple(sorted({name for letter in letters for name in letter.unseeded})),
        watched=tuple(item for letter in letters for item in letter.watched),
        modules=tuple(item for letter in letters for item in letter.modules),
        torch=next((letter.torch for letter in letters if letter.torch), ""),
        signal=done.signal,
        unobserved=unseen,
        trouble=(
            *unseen,
            *trouble,
            *(note for letter in letters for note in letter.trouble),
            *filter(None, [done.trouble]),
        ),
    )


def _outcome(done: Completed, failure: Failure | None, loud: bool) -> Outcome:
    if done.timed_out:
        return Outcome.TIMEOUT
    if done.trouble and done.exit_code is None and not done.signal:
        return Outcome.NOT_STARTED
    if done.signal:
        return Outcome.SIGNAL
    if failure is not None and failure.kind != "other" and (loud or done.exit_code != 0):
        return Outcome.FAILED
    return Outcome.CLEAN if done.exit_code == 0 else Outcome.OTHER


def _failure(letters: list[Letter]) -> tuple[Failure | None, bool]:
    """The failure that explains the run, and whether it was loud: nobody caught it.

    An uncaught device failure explains more than any other exception, since a parent often dies of its child's; one
    that was caught explains a failing run only where no other exception does.
    """
    told = [(letter.failure, letter.uncaught, letter.pid) for letter in letters if letter.failure is not None]
    order = sorted(told, key=lambda each: (not (each[1] and each[0].kind != "other"), not each[1], each[2]))
    return (order[0][0], order[0][1]) if order else (None, False)


def _gpus_asked(world: World, letters: list[Letter], failure: Failure | None) -> int:
    """Return how many GPUs the program needs where the world has fewer, else 0.

    A number that does not exist counts where the program failed by it; processes of NCCL count in any case. Real GPUs
    have no probe that knows the number: there it is one more than there are.
    """
    asked = max((letter.asked_by_processes for letter in letters), default=0)
    if failure is not None and failure.kind == "invalid-ordinal" and world.kind != "cpu":
        asked = max(asked, world.gpus + 1, *(letter.asked_by_number for letter in letters))
    return asked if asked > world.gpus else 0


def _handled(letters: list[Letter]) -> tuple[Failure, ...]:
    """Return the device failures that the processes have caught, those of the first process first."""
    found: list[Failure] = []
    for letter in sorted(letters, key=lambda each: each.pid):
        for failure in (*letter.handled, *filter(None, [letter.failure])):
            if failure.kind != "other" and failure not in found:
                found.append(failure)
    return tuple(found)


def _is_printed(failure: Failure, done: Completed) -> bool:
    """Say whether the program printed the message: it tells of the failure, and does not just try something else."""
    words = failure.message.strip().split("\n")[0][:80]
    return bool(words) and (words in done.stderr or words in done.stdout)


def _sum(letters: list[Letter]) -> tuple[Transfer, ...]:
    totals: dict[tuple[Place, str], Transfer] = {}
    for letter in letters:
        for each in letter.transfers:
            known = totals.get((each.place, each.direction))
            count, size = (known.count, known.bytes) if known else (0, 0)
            totals[each.place, each.direction] = replace(each, count=each.count + count, bytes=each.bytes + size)
    return tuple(totals.values())


def _visits(letters: list[Letter]) -> tuple[Visit, ...]:
    totals: dict[str, Visit] = {}
    for each in (visit for letter in letters for visit in letter.visits):
        known = totals.get(each.op, Visit(each.op, 0, 0))
        totals[each.op] = Visit(
            each.op,
            known.ran + each.ran,
            known.failed + each.failed,
            each.works,
            known.device + each.device,
            known.same or each.same,
        )
    return tuple(totals.values())


def _computed(letters: list[Letter]) -> tuple[Computed, ...]:
    totals: dict[str, Computed] = {}
    for each in (computed for letter in letters for computed in letter.computed):
        known = totals.get(each.op, Computed(each.op, 0, 0))
        host, device = known.host + each.host, known.device + each.device
        totals[each.op] = Computed(each.op, host, device, known.total + each.total, known.size + each.size)
    return tuple(totals.values())
