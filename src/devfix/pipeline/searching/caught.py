"""Programs that catch a device failure, and then fail for another reason because of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from devfix.model import Outcome, Run, World
from devfix.pipeline.opening.session import Session
from devfix.pipeline.searching.hanging import explain_hang
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
