"""Combine fixes that have one cause, such as the tensors of a batch that failed one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from devfix.model import Fix, Operand, Repair, SourceLocation
from devfix.sdk.trace.operands import describe
from devfix.source.queries.reading import is_in_constructor
from devfix.verification.edit_map import location_before
from devfix.verification.rebase import merge_edits

Differ = Callable[[Mapping[str, bytes], Mapping[str, bytes]], str]
WITH = ", and what came with it"
MOVE = re.compile(r"Move (?P<what>.+?) to (?P<where>`[^`]+`)")


def combine_fixes(repairs: Sequence[Repair], diff: Differ) -> list[Repair]:
    """Return the repairs, with consecutive ones of the same cause combined; `diff` shows files before and after.

    Two repairs have the same cause if the misplaced tensors were returned by one call or yielded by one loop, one rule
    made both fixes or one function created both tensors, and the fixes edit the same files. The verdict of the last one
    holds for the combined fix.
    """
    result: list[Repair] = []
    for repair in repairs:
        before = result[-1] if result else None
        if before is not None and before.fix and repair.fix and _has_one_cause(before, repair):
            result[-1] = _together(before, before.fix, repair, repair.fix, diff)
        else:
            result.append(repair)
    return result


def _has_one_cause(one: Repair, other: Repair) -> bool:
    wrongs = _blamed_operand(one), _blamed_operand(other)
    if one.fix is None or other.fix is None or wrongs[0] is None or wrongs[1] is None:
        return False
    same_rule = one.fix.patch.rule == other.fix.patch.rule
    if one.fix.verdict.outcome != "progressed" or not (same_rule or _is_made_alike(wrongs[0], wrongs[1])):
        return False
    if {edit.path for edit in one.fix.patch.edits} != {edit.path for edit in other.fix.patch.edits}:
        return False
    edits = one.fix.patch.edits
    there = {_plain(location_before(place, edits)) for place in _sources(other, wrongs[1])}
    return bool(there & {_plain(place) for place in _sources(one, wrongs[0])})


def _is_made_alike(one: Operand, other: Operand) -> bool:
    """Return whether one function created both tensors; constructors do not count."""
    places = [each.creation.places[0] for each in (one, other) if each.creation is not None and each.creation.places]
    made = {(place.path, place.function) for place in places if place.owned}
    return len(places) == 2 and len(made) == 1 and not is_in_constructor(places[0].function)


def _blamed_operand(repair: Repair) -> Operand | None:
    rule = repair.fix.patch.rule if repair.fix else ""
    found = next((each for each in repair.diagnoses if each.rule == rule), None)
    operands = repair.failure.operands
    return operands[found.finding.operand] if found is not None and operands else None


def _sources(repair: Repair, operand: Operand) -> set[SourceLocation]:
    """Return the calls in owned code that returned a tensor, and the loops that yielded it; not calls still running."""
    running = {_plain(frame.place) for frame in repair.failure.frames}
    places = {
        place
        for event in operand.history
        for depth, place in enumerate(event.places)
        if place.owned and (depth or place.loop)
    }
    return {place for place in places if _plain(place) not in running}


def _plain(place: SourceLocation) -> tuple[str, int, str]:
    return place.path, place.line, place.function


def _together(one: Repair, first: Fix, other: Repair, second: Fix, diff: Differ) -> Repair:
    edits = merge_edits(first.patch.edits, second.patch.edits)
    wrong, at = _blamed_operand(other), other.failure.at
    where = f" at {at.shown}" if at is not None else ""
    reason = f"{first.patch.reason} {describe(wrong) if wrong else 'Another'} came with it, and failed next{where}."
    patch = replace(
        first.patch,
        title=joined_title(first.patch.title, second.patch.title),
        reason=reason,
        safety=max(first.patch.safety, second.patch.safety, key=lambda each: each.risk),
        edits=edits,
    )
    verdict = replace(second.verdict, transfers_before=first.verdict.transfers_before, before=first.verdict.before)
    shown = diff({edit.path: edit.before for edit in edits}, {edit.path: edit.after for edit in edits})
    return replace(
        one,
        fix=Fix(patch, verdict, shown, second.similar_sites),
        rejected=(*one.rejected, *other.rejected),
    )


def joined_title(one: str, other: str, ending: str = WITH) -> str:
    """Return the title of both in the words of the first: "Move `x` and `y` to `device`", or with an ending."""
    first, second = MOVE.match(one), MOVE.match(other)
    if one == other:
        return one
    if first and second and first["where"] == second["where"]:
        what = first["what"].replace(" and ", ", ")
        return one.replace(first["what"], f"{what} and {second['what']}", 1)
    return one if one.endswith(ending) else f"{one}{ending}"
