"""Programs that wait for ever after a device failure: it ended a task or a thread that another one waits for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from devfix.model import Outcome, Run
from devfix.pipeline.opening.session import Session

_LEAST, _TIMES = 60.0, 10  # the new time limit: seconds, and runs without a GPU
_LEAST_IDLE, _TIMES_IDLE = 30.0, 5  # the same for a program that waits and does nothing


def limit_idle_runs(session: Session, without_gpu: Run) -> None:
    """End runs sooner that wait for ever after a device failure, if the program ends well without a GPU."""
    if without_gpu.outcome is Outcome.CLEAN:
        session.observer.idle_limit = max(_LEAST_IDLE, _TIMES_IDLE * without_gpu.seconds)


def explain_hang(session: Session, run: Run, without_gpu: Callable[[], Run]) -> Run:
    """Return a run that exceeded its time limit as one that failed, if it ends well without a GPU.

    The device failure that it recorded is then what keeps it from ending. Later runs are ended sooner, and those that
    are ended are taken for failed as well: a patch holds if with it the program ends by itself.
    """
    if run.outcome is not Outcome.TIMEOUT or not run.handled:
        return run
    ends = without_gpu()
    if ends.outcome is not Outcome.CLEAN:
        return run
    target = session.target
    limit = min(target.timeout, max(_LEAST, _TIMES * ends.seconds))
    session.observer.target = replace(target, timeout=limit)
    session.observer.explained |= {Outcome.TIMEOUT}
    waits = f"after the failure the program does not end: it was ended after {run.seconds:.0f} s"
    session.notes.add(f"{waits}, and takes {ends.seconds:.1f} s without a GPU")
    return replace(run, outcome=Outcome.FAILED, failure=run.handled[0], handled=())
