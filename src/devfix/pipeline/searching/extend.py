"""Extend the candidates of rules: to every use of a tensor, to what it meets, to callers that pass numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.model import Confidence, Diagnosis, Failure, Operand, Patch
from devfix.pipeline.opening.session import Session
from devfix.pipeline.searching.accept_numbers import accept_numbers
from devfix.pipeline.searching.all_uses import extend_to_all_uses
from devfix.pipeline.searching.choices import HOLDING
from devfix.pipeline.searching.companions import extend_to_companions, find_companion
from devfix.registry import Rule
from devfix.sdk import Sources
from devfix.sdk.trace.sites import locations_without_scope
from devfix.verification.candidate import CandidateResult
from devfix.verification.edit_map import location_before
from devfix.verification.verifier import Verifier

FIRST, KEPT_FIRST = 3, 2  # candidates that are extended: if none holds, and if one leads to another failure


class Extension:
    """Extends the candidates for one failure; each result is verified in all worlds."""

    def __init__(
        self, session: Session, verifier: Verifier, rules: Sequence[Rule], diagnoses: Sequence[Diagnosis]
    ) -> None:
        self._session, self._verifier = session, verifier
        self._rules = {rule.id: rule for rule in rules}
        self._diagnoses = {each.rule: each for each in diagnoses}
        self._operands = diagnoses[0].failure.operands if diagnoses else ()

    def better(self, kept: CandidateResult | None, candidates: Sequence[CandidateResult]) -> CandidateResult | None:
        """Return an extended candidate to keep in place of `kept`, which is not verified; None if there is none.

        One that `kept` precedes is better only if nothing fails after it.
        """
        if kept is None:
            return (
                next(filter(None, map(self._confirm, self._to_all_uses(candidates))), None)
                or next(filter(None, map(self._confirm, self._to_companions(candidates))), None)
                or self._confirm(accept_numbers(candidates, self._attempt, self._operands))
            )
        strong = [each for each in candidates if each.patch.rank[:1] <= kept.patch.rank[:1]]
        for found in self._extend(strong):
            if found.files != kept.files and is_further(found, kept):
                confirmed = self._confirm(found)
                if confirmed is not None and is_further(confirmed, kept):
                    return confirmed
        return None

    def stronger(self, kept: CandidateResult, candidates: Sequence[CandidateResult]) -> CandidateResult | None:
        """Return an extended candidate to keep in place of `kept`, which is verified and a guess; None without one.

        It is of a rule with evidence, and failed only because its tensor met another one that was left behind with it.
        """
        if kept.patch.rank[:1] < (int(Confidence.GUESS),):
            return None
        strong = [each for each in candidates if each.patch.rank[:1] < kept.patch.rank[:1]]
        confirmed = map(self._confirm, self._to_companions(strong, KEPT_FIRST))
        return next((each for each in confirmed if each is not None and each.verdict.outcome == "verified"), None)

    def _extend(self, candidates: Sequence[CandidateResult]) -> Iterator[CandidateResult]:
        yield from self._to_companions(candidates, KEPT_FIRST)
        yield from self._to_all_uses(candidates, KEPT_FIRST)

    def _to_companions(self, candidates: Sequence[CandidateResult], first: int = FIRST) -> list[CandidateResult]:
        find = self._find_companion
        return extend_to_companions(candidates, find, self._propose_for_companion, self._attempt, first)

    def _to_all_uses(self, candidates: Sequence[CandidateResult], first: int = FIRST) -> Iterator[CandidateResult]:
        return extend_to_all_uses(candidates, self._propose_next_use, self._attempt, first)

    def _attempt(self, patch: Patch) -> CandidateResult:
        return self._verifier.run_on_failing_world(patch, self._diagnoses[patch.rule])

    def _confirm(self, candidate: CandidateResult | None) -> CandidateResult | None:
        confirmed = self._verifier.confirm(candidate) if candidate is not None else None
        return confirmed if confirmed is not None and confirmed.verdict.outcome in HOLDING else None

    def _propose_next_use(self, candidate: CandidateResult) -> Iterator[Patch]:
        """Return patches by the candidate's rule for the failure that it ended with, else by the first rule with one.

        One that moved a tensor as the one beside it was has nothing to say where neither was moved.
        """
        failure, rule = candidate.verdict.next_failure, self._rules[candidate.patch.rule]
        sources = self._sources(candidate)
        for rules in ([rule], self._rules.values()):
            if failure is None:
                break
            found = propose(diagnose(failure, rules, sources), self._rules, sources)
            if (first := next(found, None)) is not None:
                return (replace(each, rule=rule.id) for each in chain([first], found))
        return iter(())

    def _propose_for_companion(self, candidate: CandidateResult) -> Iterator[Patch]:
        """Return patches that move what the tensor met, in the failure that the candidate ended with."""
        failure, met = candidate.verdict.next_failure, self._find_companion(candidate)
        if failure is None or met is None:
            return iter(())
        failure, sources = self._with_scopes(candidate, failure), self._sources(candidate)
        found = diagnose(failure, self._rules.values(), sources)
        left = [each for each in found if failure.operands[each.finding.operand].device == met.device]
        return propose(left, self._rules, sources)

    def _find_companion(self, candidate: CandidateResult) -> Operand | None:
        return find_companion(candidate, self._diagnoses[candidate.patch.rule])

    def _with_scopes(self, candidate: CandidateResult, failure: Failure) -> Failure:
        """Return the failure with the scopes of functions that have returned, for which the program runs once more."""
        watch = list(locations_without_scope(failure))
        if not watch:
            return failure
        world, files = candidate.run.world, dict(candidate.files)
        again = self._session.observer.run(world, files, watch=watch, fresh=False)
        return replace(failure, scopes=again.watched)

    def _sources(self, candidate: CandidateResult) -> Sources:
        session = self._session
        return Sources(partial(session.read, candidate.files), session.repository.containing, session.notes)


def is_further(candidate: CandidateResult, kept: CandidateResult) -> bool:
    """Return whether a candidate is better than one that leads to another failure.

    Nothing fails after it; or it comes first, nothing more speaks against it, and it reaches that failure or a later
    one.
    """
    if candidate.verdict.outcome == "verified":
        return True
    if candidate.patch.rank > kept.patch.rank or len(candidate.verdict.objections) > len(kept.verdict.objections):
        return False
    one, other = candidate.verdict.next_failure, kept.verdict.next_failure
    if candidate.verdict.outcome != "progressed" or one is None or other is None or not one.at or not other.at:
        return False
    places = location_before(one.at, candidate.patch.edits), location_before(other.at, kept.patch.edits)
    is_same = one.op == other.op and len({(each.path, each.line, each.function) for each in places}) == 1
    return is_same or one.operations > other.operations
