"""Keep another candidate for a failure than the first: the next verified one, or one that the caller has edited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from devfix.errors import UserError
from devfix.model import Diagnosis, Patch
from devfix.verification.candidate import CandidateResult
from devfix.verification.verifier import CANDIDATES, Verifier

HOLDING = ("verified", "progressed")


@dataclass(frozen=True)
class Choice:
    """The number of a verified candidate, from 1, or a patch of the caller's own."""

    number: int = 1
    patch: Patch | None = None


class NoCandidateError(UserError):
    """The chosen candidate does not exist, or is not verified."""


class VerifiedCandidates:
    """The verified candidates for one failure; those behind the first one are verified when they are asked for."""

    def __init__(
        self,
        verifier: Verifier,
        kept: CandidateResult,
        rest: Sequence[CandidateResult],
        untried: Sequence[Patch],
        diagnosis_of: Callable[[Patch], Diagnosis],
    ) -> None:
        """Begin with the candidate that is kept by default; `rest` was run in the failing world, `untried` never."""
        self._verifier, self._diagnosis_of = verifier, diagnosis_of
        self._found = [kept]
        self._left = self._further(rest, untried)

    def pick(self, choice: Choice) -> CandidateResult:
        """Return the chosen candidate, verified in all worlds. Raises NoCandidateError if there is none."""
        if choice.patch is not None:
            return self._run_edited(choice.patch)
        while len(self._found) < choice.number:
            candidate = next(self._left, None)
            if candidate is None:
                count = len(self._found)
                raise NoCandidateError(f"{count} candidate{' is' if count == 1 else 's are'} verified, and no other")
            self._found.append(candidate)
        return self._found[choice.number - 1]

    def run(self, patch: Patch) -> CandidateResult:
        """Run a patch in the failing world."""
        return self._verifier.run_on_failing_world(patch, self._diagnosis_of(patch))

    def _further(self, rest: Sequence[CandidateResult], untried: Sequence[Patch]) -> Iterator[CandidateResult]:
        for candidate in rest:
            if candidate.verdict.outcome == "superseded":
                verdict = replace(candidate.verdict, outcome="verified", reason="", objections=())
                yield from self._confirm(replace(candidate, verdict=verdict))
            elif candidate.verdict.outcome in HOLDING:
                yield from self._confirm(replace(candidate, verdict=replace(candidate.verdict, objections=())))
        for patch in islice(untried, CANDIDATES):
            yield from self._confirm(self.run(patch))

    def _confirm(self, candidate: CandidateResult) -> Iterator[CandidateResult]:
        """Yield the candidate if it holds in all worlds as well as the first one does, by another change."""
        wanted = ("verified",) if self._found[0].verdict.outcome == "verified" else HOLDING
        if candidate.verdict.outcome not in wanted or any(candidate.files == each.files for each in self._found):
            return
        confirmed = self._verifier.confirm(candidate)
        if confirmed.verdict.outcome in wanted:
            yield confirmed

    def _run_edited(self, patch: Patch) -> CandidateResult:
        candidate = self.run(patch)
        if candidate.verdict.outcome in HOLDING:
            candidate = self._verifier.confirm(candidate)
        if candidate.verdict.outcome not in HOLDING:
            reason = f": {candidate.verdict.reason}" if candidate.verdict.reason else ""
            raise NoCandidateError(f"the edited fix is not verified ({candidate.verdict.outcome}{reason})")
        return candidate
