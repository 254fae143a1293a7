"""A candidate that was run: its result, and how it compares with another one that is verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from devfix.model import Failure, Patch, Run, Safety, Verdict, VerdictOutcome
from devfix.verification.edit_map import is_edited, is_repeated, is_turned_round


@dataclass(frozen=True)
class CandidateResult:
    """A patch, the files it leads to, its run in the world that failed, and the verdict.

    `worlds_still_failing` counts the other worlds in which the fixed line still fails as it did before, the edit
    itself fails, or the program fails on an accelerator that the edit chose. `is_reviewed`: objections were collected
    and are in the verdict. `numbers` are the expressions that hold numbers elsewhere, if nothing else speaks against
    the patch.
    """

    patch: Patch
    files: Mapping[str, bytes]
    run: Run
    verdict: Verdict
    worlds_still_failing: int = 0
    is_reviewed: bool = False
    numbers: tuple[str, ...] = ()


def is_not_better_than(candidate: CandidateResult, held: CandidateResult) -> bool:
    """Return whether a candidate makes no fewer copies than the verified one, or has weaker evidence.

    If objections speak against only one of them, the other one is better. An unsure change is not better than a safe
    one for fewer copies: `net.to(device)` in a loop, in place of the device of what the loop creates.
    """
    if is_doubted(held) and not candidate.is_reviewed:
        return False
    if candidate.is_reviewed and is_doubted(candidate) != is_doubted(held):
        return is_doubted(candidate)
    if held.worlds_still_failing != candidate.worlds_still_failing or held.worlds_still_failing:
        return candidate.worlds_still_failing >= held.worlds_still_failing
    if moves_both_ways(candidate) != moves_both_ways(held):
        return moves_both_ways(candidate)
    is_weaker = candidate.patch.rank[:1] > held.patch.rank[:1]
    is_doubtful = candidate.patch.safety is Safety.UNSURE and held.patch.safety is Safety.SAFE
    return candidate.run.copies >= held.run.copies or is_weaker or is_doubtful


def is_doubted(candidate: CandidateResult) -> bool:
    """Return whether objections speak for another candidate.

    Weak ones do not if the patch trains what the program meant to train: what that adds to a saved state dict, which is
    of little use without it, is no reason to leave it untrained.
    """
    return bool(candidate.verdict.objections) and not candidate.verdict.effects


def is_stronger(further: CandidateResult, held: CandidateResult, before: Failure | None) -> bool:
    """Return whether a candidate that leads to another failure has better evidence than the verified one.

    It has not where the same expression fails again with the operands where they were, nor with them exchanged; unless
    the tensor that is on the host now is created there, too, and the verified one only takes tensors there and back.
    """
    given = before, further.run.failure, further.patch.edits
    if further.patch.rank[:1] >= held.patch.rank[:1] or is_repeated(*given):
        return False
    return not is_turned_round(*given) or (moves_both_ways(held) and _meets_stray(further.run.failure))


def _meets_stray(failure: Failure | None) -> bool:
    """Return whether a tensor of a failure was created on the host by owned code, and stayed there."""
    operands = failure.operands if failure is not None else ()
    made = [each.creation for each in operands if each.device == "cpu" and not each.transfers]
    return any(each is not None and each.kind in ("factory", "random") and each.owned_place for each in made)


def reject(candidate: CandidateResult, reason: str, outcome: VerdictOutcome = "superseded") -> CandidateResult:
    """Return the candidate with the verdict that rejects it."""
    return replace(candidate, verdict=replace(candidate.verdict, outcome=outcome, reason=reason))


def diversify(patches: Iterable[Patch], tried: Sequence[Patch] = ()) -> list[Patch]:
    """Sort patches so that those that edit other lines or blame another tensor than earlier ones come first.

    If one patch only reaches the next failure, another one in the same line will rarely do better. One nearer to the
    origin of the data may, and so may one that moves the peer of the blamed tensor.
    """
    seen: Counter[tuple[str, tuple[tuple[str, int], ...]]] = Counter(map(_kind, tried))
    ranked = []
    for patch in patches:
        ranked.append((seen[_kind(patch)], patch))
        seen[_kind(patch)] += 1
    return [patch for _, patch in sorted(ranked, key=lambda each: each[0])]


def _kind(patch: Patch) -> tuple[str, tuple[tuple[str, int], ...]]:
    """Return the reason of a patch, which identifies the blamed tensor, and the lines that it edits."""
    return patch.reason, tuple((edit.path, edit.line) for edit in patch.edits)


def mark_superseded(candidate: CandidateResult) -> CandidateResult:
    """Mark a candidate as superseded: for what speaks against it, or if the kept fix resolves its next failure, too."""
    if candidate.verdict.outcome == "verified":
        better = "another verified candidate makes fewer copies, or runs in more worlds"
        return reject(candidate, next(iter(candidate.verdict.objections), better))
    if candidate.verdict.outcome != "progressed" or candidate.verdict.next_failure is None:
        return candidate
    reason = f"it only moves the crash to {where(candidate.verdict.next_failure)}: same cause, the fix kept fixes both"
    return reject(candidate, reason, "same-failure")


def copies_in_loop(candidate: CandidateResult) -> bool:
    """Return whether a line that the patch changed copies more than once per run."""
    return any(each.count > 1 and is_edited(each.place, candidate.patch.edits) for each in candidate.run.transfers)


def moves_both_ways(candidate: CandidateResult) -> bool:
    """Return whether a line that the patch changed brings tensors to a GPU and back to the host.

    What they follow there is on both: a sum that follows each of its summands, of which some are left on the host.
    """
    changed = (each for each in candidate.run.transfers if is_edited(each.place, candidate.patch.edits))
    directions: dict[tuple[str, int], set[str]] = {}
    for each in changed:
        directions.setdefault((each.place.path, each.place.line), set()).add(each.direction)
    return any({"to-host", "to-device"} <= found for found in directions.values())


def order_by_copies(further: Sequence[CandidateResult]) -> list[CandidateResult]:
    """Sort candidates that lead to another failure: those that lead to that of the first one with fewer copies first.

    Only if the first copies in a loop: elsewhere the order of the rules is better.
    """
    first = further[0]
    if not copies_in_loop(first) or first.run.failure is None:
        return list(further)
    alike = [each for each in further[1:] if each.run.failure and where(each.run.failure) == where(first.run.failure)]
    fewer = sorted((each for each in alike if not is_not_better_than(each, first)), key=lambda each: each.run.copies)
    return [*fewer, *(each for each in further if each not in fewer)]


def where(failure: Failure) -> str:
    """Return the line at which a failure is reported."""
    return failure.at.shown if failure.at else "an unknown place"


def is_settled(held: CandidateResult) -> bool:
    """Return whether no candidate can be better than this one: it moves only what failed, and not in a loop."""
    return (
        not held.worlds_still_failing
        and not is_doubted(held)
        and not held.patch.joint
        and not copies_in_loop(held)
        and not moves_both_ways(held)
    )
