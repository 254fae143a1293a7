"""Letters and the end of a process -> one run: which failure explains it, and what was copied."""

from __future__ import annotations

from dataclasses import replace

from devfix.letter import Letter
from devfix.model import Computed, Failure, Outcome, Place, Run, Transfer, Visit, World
from devfix.process import Completed


def told(
    world: World, command: tuple[str, ...], done: Completed, letters: list[Letter], trouble: list[str], tree: str
) -> Run:
    """The run that a process's end and its letters tell of; `tree` is the path to leave out of its output."""
    failure, loud = _failure(letters)
    outcome = _outcome(done, failure, loud)
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
        handled=failure if outcome is Outcome.CLEAN else None,
        transfers=_sum(letters),
        visits=_visits(letters),
        computed=_computed(letters),
        watched=tuple(item for letter in letters for item in letter.watched),
        modules=tuple(item for letter in letters for item in letter.modules),
        torch=next((letter.torch for letter in letters if letter.torch), ""),
        signal=done.signal,
        trouble=(*trouble, *(note for letter in letters for note in letter.trouble), *filter(None, [done.trouble])),
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
