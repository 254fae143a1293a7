"""Extend a candidate to tensors that the one it moved meets earlier, and that were left on the host like it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from devfix.model import Diagnosis, Failure, Operand, Outcome, Patch
from devfix.pipeline.searching.choices import HOLDING
from devfix.pipeline.searching.combine import joined_title
from devfix.sdk.trace.operands import target_device
from devfix.verification.candidate import CandidateResult
from devfix.verification.edit_map import has_same_root_cause
from devfix.verification.rebase import merge_edits, parts_with

STEPS = 6  # tensors that one change moves with the first
TRIES = 2  # candidates tried for each of them
WHAT_IT_MEETS = ", and what it meets"
Find = Callable[[CandidateResult], Operand | None]
Propose = Callable[[CandidateResult], Iterable[Patch]]
Try = Callable[[Patch], CandidateResult]


def extend_to_companions(
    candidates: Sequence[CandidateResult], find: Find, propose_next: Propose, attempt: Try, first: int = 3
) -> list[CandidateResult]:
    """Return the candidates that hold because they also move what the tensor meets, fewest changes first.

    `x` and `t` may both be on the host: `torch.cat([x, t])` works before the failure, and fails if only `x` is moved.
    `find` returns what a candidate's tensor met, `propose_next` yields patches that move it, against the files that the
    candidate leads to, and `attempt` runs a patch against the first failure. At most `first` candidates are extended.
    """
    found: list[tuple[int, CandidateResult]] = []
    for begun in [each for each in candidates if find(each) is not None][:first]:
        most = min([STEPS, *(steps - 1 for steps, each in found if each.verdict.outcome == "verified")])
        candidate: CandidateResult | None = begun
        for step in range(1, most + 1):
            candidate = _next(candidate, find, propose_next, attempt) if candidate is not None else None
            if candidate is not None and candidate.verdict.outcome in HOLDING:
                found.append((step, candidate))
                break
    found.sort(key=lambda each: (each[1].verdict.outcome != "verified", each[0]))
    return [candidate for _, candidate in found]


def find_companion(candidate: CandidateResult, diagnosis: Diagnosis) -> Operand | None:
    """Return what the moved tensor met where it was itself; None if the candidate ended otherwise.

    The operation in which they meet ran before the change, so that both were on this device then. Of a tensor that is
    to be copied to the host, nothing is a companion: the program's work would follow it there.
    """
    failure, operands = candidate.verdict.next_failure, diagnosis.failure.operands
    if candidate.verdict.outcome != "broken" or candidate.run.outcome is not Outcome.FAILED or failure is None:
        return None
    if not operands or target_device(diagnosis) in ("cpu", ""):
        return None
    device = operands[diagnosis.finding.operand].device
    return next((each for each in failure.operands if each.device == device), None)


def with_companion(patch: Patch, later: Patch) -> Patch:
    """Return both patches as one; `later` starts from the files that `patch` leads to."""
    return replace(
        patch,
        title=joined_title(patch.title, later.title, WHAT_IT_MEETS),
        reason=patch.reason if later.reason in patch.reason else f"{patch.reason} {later.reason}",
        safety=max(patch.safety, later.safety, key=lambda each: each.risk),
        edits=merge_edits(patch.edits, later.edits),
        joint=False,
        recomputes=patch.recomputes or later.recomputes,
        parts=parts_with(patch, later),
    )


def _next(candidate: CandidateResult, find: Find, propose_next: Propose, attempt: Try) -> CandidateResult | None:
    failure, met = candidate.verdict.next_failure, find(candidate)
    for patch in islice(propose_next(candidate), TRIES):
        following = attempt(with_companion(candidate.patch, patch))
        if following.verdict.outcome in HOLDING:
            return following
        if find(following) is not None and not _is_same(failure, met, following, patch):
            return following
    return None


def _is_same(before: Failure | None, met: Operand | None, following: CandidateResult, patch: Patch) -> bool:
    """Return whether a candidate still fails because of the tensor that the last patch was to move."""
    after = following.verdict.next_failure
    return before is None or after is None or has_same_root_cause(before, met, after, patch.edits)
