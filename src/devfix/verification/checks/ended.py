"""Check runs that were ended as requested, since the program does not end by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from devfix.model import CountRequest, Edit, Outcome, Run, World
from devfix.verification.candidate import CandidateResult
from devfix.verification.checks.computation import edited_places
from devfix.verification.checks.suppression import locations_after

ENDED_NOTE = "the program was ended while it ran: what it prints and computes with the fix and without was not compared"
_CPU = World("cpu")


def counts_for(
    before: Run, candidate: CandidateResult, worlds: Sequence[World], steps: int = 0
) -> Mapping[World, CountRequest]:
    """Return where operators are counted in each world: at edited lines, or at the failing one if runs are ended.

    These are ended after `steps` runs of an operator there, if that is not 0.
    """
    failure, edits = before.failure, candidate.patch.edits
    if candidate.run.ended and failure is not None and failure.at is not None:
        return dict.fromkeys((before.world, *worlds), CountRequest(locations_after(failure.at, edits), steps=steps))
    return counts_at_edits(before.world, edits)


def counts_at_edits(home: World, edits: Sequence[Edit]) -> Mapping[World, CountRequest]:
    """Return where operators are counted in runs that end by themselves: at edited lines, in two worlds."""
    return dict.fromkeys((home, _CPU), CountRequest(edited_places(edits)))


def stops_before(run: Run, counted: Mapping[World, CountRequest]) -> str:
    """Return that a run was ended before it got past the failing line, at which it counted operators; "" otherwise."""
    request = counted.get(run.world)
    if not run.ended or run.outcome is not Outcome.CLEAN or request is None or not request.locations:
        return ""
    if any(count.completed for count in run.operator_counts):
        return ""
    place = request.locations[0]
    return f"{run.ended} in the world {run.world.name}, but not past {place.shown} (--for gives it longer)"
