"""A program that asks for more GPUs than it has: its record, and one sentence that says what to do."""

from __future__ import annotations

from devfix.model import GpusNeeded, Run
from devfix.report.plain import one_line
from devfix.report.types import GpusNeededRecord


def gpus_record(needed: GpusNeeded) -> GpusNeededRecord:
    """Return the value of "gpus_needed" in a record."""
    return GpusNeededRecord(given=needed.given, needed=needed.needed, reason=needed.reason, met=needed.met)


def gpus_of_run(run: Run) -> GpusNeededRecord | None:
    """Return "gpus_needed" of a run outside of a repair: None if the GPUs of its world are enough."""
    if not run.gpus_asked:
        return None
    at = run.failure.at if run.failure and run.failure.kind == "invalid-ordinal" else None
    where = f"it uses {run.world.device.value}:{run.gpus_asked - 1} at {at.shown}" if at else listed_reason(run)
    reason = where or f"its {run.gpus_asked} processes need a GPU each"
    return GpusNeededRecord(given=run.world.gpus, needed=run.gpus_asked, reason=reason, met=False)


def listed_reason(run: Run) -> str:
    """Return the reason for which a program needs more GPUs if it names them in the environment, else ""."""
    if not run.gpus_listed or run.gpus_listed < run.gpus_asked:
        return ""
    return f"it sets CUDA_VISIBLE_DEVICES, in which is GPU {run.gpus_listed - 1}"


def gpus_sentence(needed: GpusNeededRecord) -> str:
    """Return in one sentence how many GPUs the program needs, why, and what was or can be done."""
    reason, available = one_line(needed.reason, 200), _gpus(needed.given)
    asked = f"the program asks for {_gpus(needed.needed)}"
    if needed.met:
        return f"{asked} ({reason}): it ran with that many instead of {available}"
    return f"{asked} and had {available} ({reason}): run it with --gpus {needed.needed}"


def _gpus(number: int) -> str:
    return f"{number} GPU" if number == 1 else f"{number} GPUs"
