"""A program that asks for more GPUs than it was given: the record of that, and one sentence that says what to do."""

from __future__ import annotations

from devfix.model import GpusNeeded, Run
from devfix.report.render.plain import one_line
from devfix.report.types import GpusNeededRecord


def gpus_record(needed: GpusNeeded) -> GpusNeededRecord:
    """Return what a report holds under "gpus_needed"."""
    return GpusNeededRecord(given=needed.given, needed=needed.needed, reason=needed.reason, met=needed.met)


def gpus_of_run(run: Run) -> GpusNeededRecord | None:
    """Return "gpus_needed" of a run that nobody repairs: None where the GPUs of its world are enough."""
    if not run.gpus_asked:
        return None
    at = run.failure.at if run.failure and run.failure.kind == "invalid-ordinal" else None
    where = f"it uses cuda:{run.gpus_asked - 1} at {at.path}:{at.line}" if at else ""
    reason = where or f"its {run.gpus_asked} processes need a GPU each"
    return GpusNeededRecord(given=run.world.gpus, needed=run.gpus_asked, reason=reason, met=False)


def gpus_sentence(needed: GpusNeededRecord) -> str:
    """Say in one sentence how many GPUs the program needs, why, and what was or can be done."""
    why, given = one_line(needed.reason, 200), _gpus(needed.given)
    asked = f"the program asks for {_gpus(needed.needed)}"
    if needed.met:
        return f"{asked} ({why}): it ran with as many, in place of {given}"
    return f"{asked} and was given {given} ({why}): --gpus {needed.needed} gives it as many"


def _gpus(number: int) -> str:
    return f"{number} GPU" if number == 1 else f"{number} GPUs"
