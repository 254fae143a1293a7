"""Extend a candidate to every use of a tensor, if it fixes one use and the same tensor fails at the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from devfix.model import Patch
from devfix.verification.candidate import CandidateResult
from devfix.verification.rebase import merge_edits

USES = 6  # uses of one tensor that one change fixes
TRIES = 2  # candidates tried at each use
EVERYWHERE = ", at every use"


def extend_to_all_uses(
    candidates: Sequence[CandidateResult],
    propose_next: Callable[[CandidateResult], Iterable[Patch]],
    attempt: Callable[[Patch], CandidateResult],
    first: int = 3,
) -> CandidateResult | None:
    """Return a candidate that fixes every use of the tensor; None if none is verified or reaches another failure.

    `candidates` are those that did neither. `propose_next` yields patches for the failure that a candidate ended with,
    against the files that it leads to. `attempt` runs a patch against the first failure. At most
    `first` candidates are extended.
    """
    for begun in [candidate for candidate in candidates if _goes_on(candidate, None)][:first]:
        candidate = begun
        for _ in range(USES):
            following = _next(candidate, propose_next, attempt)
            if following is None:
                break
            if following.verdict.outcome in ("verified", "progressed"):
                return following
            candidate = following
    return None


def _next(
    candidate: CandidateResult,
    propose_next: Callable[[CandidateResult], Iterable[Patch]],
    attempt: Callable[[Patch], CandidateResult],
) -> CandidateResult | None:
    for patch in islice(propose_next(candidate), TRIES):
        following = attempt(with_later(candidate.patch, patch))
        if following.verdict.outcome in ("verified", "progressed") or _goes_on(following, candidate):
            return following
    return None


def _goes_on(candidate: CandidateResult, before: CandidateResult | None) -> bool:
    """Return whether a candidate fails of the same cause, but further on than the one `before` (None at first)."""
    failure = candidate.verdict.next_failure
    if candidate.verdict.outcome != "same-failure" or failure is None or candidate.patch.joint:
        return False
    known = before.verdict.next_failure if before is not None else None
    if known is not None:
        return failure.operations > known.operations
    return candidate.verdict.reason.startswith("it only moves the crash")


def with_later(patch: Patch, later: Patch) -> Patch:
    """Return both patches as one; `later` starts from the files that `patch` leads to."""
    title = patch.title if patch.title.endswith(EVERYWHERE) else f"{patch.title}{EVERYWHERE}"
    return replace(patch, title=title, edits=merge_edits(patch.edits, later.edits))
