"""A patch that was tried: what it did, and how it stands beside another that holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from devfix.model import Failure, Patch, Run, Verdict, VerdictOutcome
from devfix.verification.edit_map import is_edited


@dataclass(frozen=True)
class CandidateResult:
    """A patch, the files it leads to, what it did in the world that failed, and the verdict.

    `lame` counts the worlds in which the line that was mended fails all the same, as it did there before, or the edit
    itself fails. `is_reviewed`: what else speaks against the patch was looked for, and stands in the verdict. `numbers`
    are the expressions that elsewhere hold numbers, and no tensor, where nothing else keeps the patch from being kept.
    """

    patch: Patch
    files: Mapping[str, bytes]
    run: Run
    verdict: Verdict
    lame: int = 0
    is_reviewed: bool = False
    numbers: tuple[str, ...] = ()


def is_no_better(trial: CandidateResult, held: CandidateResult) -> bool:
    """Whether a trial makes no fewer copies than one that holds, or has weaker evidence that its place is wrong.

    Where something else speaks against one of them alone, the other is better.
    """
    if held.verdict.objections and not trial.is_reviewed:
        return False
    if trial.is_reviewed and bool(trial.verdict.objections) != bool(held.verdict.objections):
        return bool(trial.verdict.objections)
    if held.lame != trial.lame or held.lame:
        return trial.lame >= held.lame
    return trial.run.copies >= held.run.copies or trial.patch.rank[:1] > held.patch.rank[:1]


def dropped(trial: CandidateResult, reason: str, outcome: VerdictOutcome = "not needed") -> CandidateResult:
    """The trial with another verdict."""
    return replace(trial, verdict=replace(trial.verdict, outcome=outcome, reason=reason))


def spread(patches: Iterable[Patch], tried: Sequence[Patch] = ()) -> list[Patch]:
    """Patches with those first that edit other lines than all before them and those tried, or blame another tensor.

    Where one gets to the next failure, another in the same line will hardly hold; one nearer to the data's source may,
    and so may one that moves what the blamed tensor met.
    """
    seen: Counter[tuple[str, tuple[tuple[str, int], ...]]] = Counter(map(_kind, tried))
    ranked = []
    for patch in patches:
        ranked.append((seen[_kind(patch)], patch))
        seen[_kind(patch)] += 1
    return [patch for _, patch in sorted(ranked, key=lambda each: each[0])]


def _kind(patch: Patch) -> tuple[str, tuple[tuple[str, int], ...]]:
    """What a patch blames, in the rule's own words, and the lines that it edits."""
    return patch.reason, tuple((edit.path, edit.line) for edit in patch.edits)


def in_vain(trial: CandidateResult) -> CandidateResult:
    """A trial beside the fix that was kept, which mends both failures where it led to another: they have one cause."""
    if trial.verdict.outcome == "holds":
        return dropped(trial, "another candidate that holds makes fewer copies, or holds in more worlds")
    if trial.verdict.outcome != "moved" or trial.verdict.next_failure is None:
        return trial
    reason = f"it only moves the crash to {where(trial.verdict.next_failure)}: same cause, the fix kept mends both"
    return dropped(trial, reason, "same")


def copies_in_loop(trial: CandidateResult) -> bool:
    """Whether a line that the patch changed copies more than once a run."""
    return any(each.count > 1 and is_edited(each.place, trial.patch.edits) for each in trial.run.transfers)


def where(failure: Failure) -> str:
    """The line at which a failure is told."""
    return f"{failure.at.path}:{failure.at.line}" if failure.at else "an unknown place"


def is_settled(held: CandidateResult) -> bool:
    """Whether no other candidate can be better than one that holds: it moves what failed alone, and not in a loop."""
    return not held.lame and not held.verdict.objections and not held.patch.joint and not copies_in_loop(held)
