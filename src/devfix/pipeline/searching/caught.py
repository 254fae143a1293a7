"""Programs that catch a device failure, and then fail for another reason or print other results because of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from devfix.model import NO_COUNTS, Outcome, Run, World
from devfix.pipeline.opening.session import Session
from devfix.pipeline.searching.hanging import explain_hang
from devfix.verification.checks.stdout import lost_results
from devfix.verification.requests import CPU

Baseline = Callable[[World], Run]


def explain_end(session: Session, run: Run, baseline: Baseline) -> Run:
    """Return a run that does not end, or fails otherwise, as one that failed, where that follows from a caught failure.

    It does so if the program ends well without a GPU. Later runs that end in the same way are taken for failed as well.
    """
    if run.world == CPU or not run.handled:
        return run
    if run.outcome is Outcome.TIMEOUT:
        return explain_hang(session, run, lambda: baseline(CPU))
    if run.outcome is not Outcome.OTHER or baseline(CPU).outcome is not Outcome.CLEAN:
        return run
    session.observer.explained |= {Outcome.OTHER}
    session.notes.add(
        f"the program catches the device failure and then ends with exit code {run.exit_code}, which it does not do "
        "without a GPU: the caught failure is repaired"
    )
    return replace(run, outcome=Outcome.FAILED, failure=run.logged or run.handled[0], handled=(), logged=None)


def with_lost_results(session: Session, run: Run, baseline: Baseline) -> Run:
    """Return a clean run whose caught failure counts as reported, if it prints other results than without a GPU.

    What the program catches is then no fallback: it goes on without what failed.
    """
    is_silent = run.outcome is Outcome.CLEAN and run.handled and run.logged is None
    if not is_silent or run.world == CPU:
        return run
    with session.optional("what the program prints was compared with what it prints without a GPU"):
        without = baseline(CPU)
        if not lost_results([run], [without]):
            return run
        pairs = [[each, session.run(each.world, session.files, False, NO_COUNTS)] for each in (run, without)]
        if lost := lost_results(*pairs):
            session.notes.add(f"the caught failure changes the results: {lost}")
            return replace(run, logged=run.handled[0])
    return run
