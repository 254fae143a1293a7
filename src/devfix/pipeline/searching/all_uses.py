"""Extend a candidate to every use of a tensor, if it fixes one use and the same tensor fails at the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from devfix.model import Patch
from devfix.verification.candidate import CandidateResult, diversify
from devfix.verification.edit_map import is_created_in_edits, location_before
from devfix.verification.rebase import merge_edits, parts_with, rebase

USES = 6  # uses of one tensor that one change fixes
TRIES = 2  # candidates tried at each use
EVERYWHERE = ", at each use that failed"


def extend_to_all_uses(
    candidates: Sequence[CandidateResult],
    propose_next: Callable[[CandidateResult], Iterable[Patch]],
    attempt: Callable[[Patch], CandidateResult],
    first: int = 3,
) -> Iterator[CandidateResult]:
    """Yield candidates that fix every use of the tensor, and are verified or reach another failure.

    `candidates` are those that did neither. `propose_next` yields patches for the failure that a candidate ended with,
    against the files that it leads to. `attempt` runs a patch against the first failure. At most
    `first` candidates are extended, of different kinds first: what speaks against one also speaks against similar ones.
    """
    begins = {id(each.patch): each for each in candidates if _goes_on(each, None)}
    for begun in [begins[id(patch)] for patch in diversify(each.patch for each in begins.values())][:first]:
        candidate = begun
        for _ in range(USES):
            following = _next(candidate, propose_next, attempt)
            if following is None:
                break
            if following.verdict.outcome in ("verified", "progressed"):
                yield following
                break
            candidate = following


def _next(
    candidate: CandidateResult,
    propose_next: Callable[[CandidateResult], Iterable[Patch]],
    attempt: Callable[[Patch], CandidateResult],
) -> CandidateResult | None:
    for patch in islice(propose_next(candidate), TRIES):
        following = attempt(with_later(candidate.patch, patch))
        if following.verdict.outcome in ("verified", "progressed"):
            return _alone(patch, candidate, following, attempt) or following
        if _goes_on(following, candidate):
            return following
    return None


def _alone(
    patch: Patch, begun: CandidateResult, both: CandidateResult, attempt: Callable[[Patch], CandidateResult]
) -> CandidateResult | None:
    """Return the later patch without what was begun, if it leads as far as both do: then that fixed no use at all."""
    without = rebase(patch, begun.patch.edits)
    found = attempt(without) if without is not None else None
    if found is None or found.verdict.outcome != both.verdict.outcome:
        return None
    return found if _end(found) == _end(both) else None


def _end(candidate: CandidateResult) -> tuple[str, str, int] | None:
    """Return the operator and the line, before the edits, at which a candidate fails next; None if it does not."""
    failure = candidate.verdict.next_failure
    if failure is None or failure.at is None:
        return None
    place = location_before(failure.at, candidate.patch.edits)
    return failure.op, place.path, place.line


def _goes_on(candidate: CandidateResult, before: CandidateResult | None) -> bool:
    """Return whether a candidate fails of the same cause, but further on than the one `before` (None at first).

    One that moves several tensors does not go on, unless they are created elsewhere for some of the calls.
    """
    failure = candidate.verdict.next_failure
    if candidate.verdict.outcome != "same-failure" or failure is None:
        return False
    if candidate.patch.joint and not is_created_in_edits(failure, candidate.patch.edits):
        return False
    known = before.verdict.next_failure if before is not None else None
    if known is not None:
        return failure.operations > known.operations
    return candidate.verdict.reason.startswith("it only moves the crash")


def with_later(patch: Patch, later: Patch) -> Patch:
    """Return both patches as one; `later` starts from the files that `patch` leads to."""
    title = patch.title if patch.title.endswith(EVERYWHERE) else f"{patch.title}{EVERYWHERE}"
    return replace(patch, title=title, edits=merge_edits(patch.edits, later.edits), parts=parts_with(patch, later))
