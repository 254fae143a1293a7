"""One change for every use of a tensor: where a candidate mends one use, and the same tensor fails at the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from devfix.model import Patch
from devfix.verification.candidate import CandidateResult
from devfix.verification.rebase import merge_edits

USES = 6  # of one tensor, mended by one change
TRIES = 2  # candidates tried at each of them
FIRST = 3  # candidates of the failure itself that are carried on
EVERYWHERE = ", at every use"


def extend_to_all_uses(
    trials: Sequence[CandidateResult],
    proposed: Callable[[CandidateResult], Iterable[Patch]],
    attempt: Callable[[Patch], CandidateResult],
) -> CandidateResult | None:
    """Return a trial of a change that mends every use of the tensor; None where none holds or gets further.

    `trials` are those of candidates that did not; `proposed` gives what could be changed, in the files to which a trial
    leads, against the failure with which it ended, `attempt` runs a patch against the first failure.
    """
    for first in [trial for trial in trials if _goes_on(trial, None)][:FIRST]:
        trial = first
        for _ in range(USES):
            following = _next(trial, proposed, attempt)
            if following is None:
                break
            if following.verdict.outcome in ("holds", "moved"):
                return following
            trial = following
    return None


def _next(
    trial: CandidateResult,
    proposed: Callable[[CandidateResult], Iterable[Patch]],
    attempt: Callable[[Patch], CandidateResult],
) -> CandidateResult | None:
    for patch in islice(proposed(trial), TRIES):
        following = attempt(with_later(trial.patch, patch))
        if following.verdict.outcome in ("holds", "moved") or _goes_on(following, trial):
            return following
    return None


def _goes_on(trial: CandidateResult, before: CandidateResult | None) -> bool:
    """Whether a trial ended with a failure of the same cause further on than another; `before` is None at first."""
    failure = trial.verdict.next_failure
    if trial.verdict.outcome != "same" or failure is None or trial.patch.joint:
        return False
    known = before.verdict.next_failure if before is not None else None
    if known is not None:
        return failure.operations > known.operations
    return trial.verdict.reason.startswith("it only moves the crash")


def with_later(patch: Patch, later: Patch) -> Patch:
    """Return a patch that does what one does, and then another, which begins with the files to which it leads."""
    title = patch.title if patch.title.endswith(EVERYWHERE) else f"{patch.title}{EVERYWHERE}"
    return replace(patch, title=title, edits=merge_edits(patch.edits, later.edits))
