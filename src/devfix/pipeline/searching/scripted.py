"""Failures inside of compiled scripts: the interpreter of TorchScript has no frames, and so no scopes."""

from __future__ import annotations

from devfix.model import Outcome, Run
from devfix.pipeline.opening.session import Session

_INTERPRETER = "in the TorchScript interpreter"  # how its errors begin; its source is quoted after that


def run_scripts_in_python(session: Session, run: Run) -> Run:
    """Return a run in which Python fails where TorchScript did; `run` itself for other failures, or where it does not.

    From then on Python runs scripts, in all worlds. Only fresh processes still compile them: a patch is run in one
    before it is kept, since TorchScript knows less than Python (docs/adr/0031).
    """
    failure = run.failure
    if failure is None or not session.observer.scripts or _INTERPRETER not in failure.traceback:
        return run
    session.expect(())  # what has begun ahead compiles
    session.observer.scripts = False
    seen = session.run(run.world, session.files, False)
    known = seen.failure
    if seen.outcome is not Outcome.FAILED or known is None or (known.kind, known.op) != (failure.kind, failure.op):
        session.observer.scripts = True
        return run
    return seen
