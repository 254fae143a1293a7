"""The candidates for one failure once they have run: which was kept, and why the others were not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from devfix.model import Diagnosis, Patch, Rejected
from devfix.verification.candidate import CandidateResult, mark_superseded, reject
from devfix.verification.verifier import CANDIDATES


@dataclass(frozen=True)
class TriedCandidates:
    """The candidates for one failure that ran: the one that is kept, if any, and the rest."""

    kept: CandidateResult | None
    rest: Sequence[CandidateResult]

    @property
    def every(self) -> list[CandidateResult]:
        """The candidates that ran, the kept one first."""
        return [*filter(None, [self.kept]), *self.rest]

    @cached_property
    def alternatives(self) -> list[CandidateResult]:
        """The candidates with which the search may continue in place of the kept one, verified ones first."""
        found = [candidate for candidate in self.rest if self.kept and _is_alternative(candidate, self.kept)]
        return sorted(found, key=lambda candidate: candidate.verdict.outcome != "verified")

    def beside(self, chosen: CandidateResult | None) -> list[CandidateResult]:
        """Return the others with their verdicts beside the chosen one, which may be the user's own."""
        others = [candidate for candidate in self.every if candidate is not chosen]
        if chosen is None:
            return others
        return [self._verdict_beside(chosen, each) for each in others if each.patch is not chosen.patch]

    def findings(self, diagnoses: Sequence[Diagnosis]) -> tuple[Diagnosis, ...]:
        """Return the diagnoses of which a candidate ran; all of them if none did."""
        rules = {candidate.patch.rule for candidate in self.every}
        return tuple(each for each in diagnoses if each.rule in rules) or tuple(diagnoses)

    def never_run(self, left: Sequence[Patch]) -> Iterator[Rejected]:
        """Yield the patches of `left` that did not run, each with the reason."""
        tried, kept = [candidate.patch for candidate in self.every], self.kept
        for patch in left:
            if any(patch is each for each in tried):
                continue
            if kept is None or kept.verdict.outcome != "verified" or len(tried) >= CANDIDATES:
                yield Rejected(patch, f"not tried: {len(tried)} candidates were tried before it, and no more are")
            elif patch.rank[:1] > kept.patch.rank[:1]:
                yield Rejected(patch, f"not tried: {kept.patch.rule} has stronger evidence, and its candidate holds")
            elif patch.rule != kept.patch.rule:
                yield Rejected(patch, f"not tried: {kept.patch.rule} takes precedence, and its candidate holds")
            else:
                yield Rejected(patch, "not tried: an earlier candidate of the rule holds")

    def _verdict_beside(self, chosen: CandidateResult, candidate: CandidateResult) -> CandidateResult:
        is_ours = any(chosen.patch is each.patch for each in (*filter(None, [self.kept]), *self.alternatives))
        if not is_ours and candidate.verdict.outcome in ("verified", "superseded"):
            return reject(candidate, "another candidate was chosen")
        if chosen.verdict.outcome == "verified":
            return mark_superseded(candidate)
        if candidate.verdict.outcome == "verified":
            return reject(candidate, "another has stronger evidence, and what it leads to has a fix of its own")
        return candidate


def _is_alternative(candidate: CandidateResult, kept: CandidateResult) -> bool:
    """Return whether a candidate is verified although `kept` is not, or progressed by an edit at another place."""
    places = [{(edit.path, edit.line) for edit in each.patch.edits} for each in (candidate, kept)]
    if kept.verdict.outcome != "progressed":
        return False
    return candidate.verdict.outcome == "verified" or (
        candidate.verdict.outcome == "progressed" and places[0].isdisjoint(places[1])
    )
