"""A program that asks for more GPUs than it has: its record, and one sentence that says what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devfix.model import GpusNeeded, Run
from devfix.report.render.plain import one_line

Record = Mapping[str, Any]


def gpus_record(needed: GpusNeeded) -> dict[str, Any]:
    """Return the value of "gpus_needed" in a record."""
    return {"given": needed.given, "needed": needed.needed, "because": needed.reason, "met": needed.met}


def gpus_of_run(run: Run) -> dict[str, Any]:
    """Return "gpus_needed" of a run outside of a repair: empty if the GPUs of its world are enough."""
    if not run.gpus_asked:
        return {}
    at = run.failure.at if run.failure and run.failure.kind == "invalid-ordinal" else None
    where = f"it uses cuda:{run.gpus_asked - 1} at {at.path}:{at.line}" if at else ""
    reason = where or f"its {run.gpus_asked} processes need a GPU each"
    return {"gpus_needed": gpus_record(GpusNeeded(run.world.gpus, run.gpus_asked, reason, False))}


def gpus_sentence(needed: Record) -> str:
    """Return in one sentence how many GPUs the program needs, why, and what was or can be done."""
    reason, available = one_line(needed["because"], 200), _gpus(needed["given"])
    asked = f"the program asks for {_gpus(needed['needed'])}"
    if needed["met"]:
        return f"{asked} ({reason}): it ran with that many instead of {available}"
    return f"{asked} and had {available} ({reason}): run it with --gpus {needed['needed']}"


def _gpus(number: int) -> str:
    return f"{number} GPU" if number == 1 else f"{number} GPUs"
