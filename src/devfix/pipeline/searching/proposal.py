"""The findings of the rules for one failure, and the patches that they propose."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.model import Diagnosis, Failure, Patch, Rejected, RuleDecision
from devfix.pipeline.searching.drawn_ahead import DrawnAhead
from devfix.registry import Rule
from devfix.sdk import Sources

MOMENT, MOST = 2.0, 200  # limits of the list of untried candidates: seconds, and how many


class Proposal:
    """The answers of the rules for one failure.

    `diagnoses` has their findings, best first; `patches` yields the patches in their order and makes each when it is
    asked for; `rejected` has those that were left out before they ran.
    """

    def __init__(self, failure: Failure, rules: Sequence[Rule], sources: Sources) -> None:
        """Diagnose the failure; no patch is made yet."""
        self._decisions: list[RuleDecision] = []
        self._declined: dict[str, str] = {}
        self.rejected: list[Rejected] = []
        self.diagnoses = diagnose(failure, rules, sources, decisions=self._decisions)
        known = {rule.id: rule for rule in rules}
        self.patches = DrawnAhead(
            propose(self.diagnoses, known, sources, rejected=self.rejected, declined=self._declined)
        )

    @property
    def decisions(self) -> tuple[RuleDecision, ...]:
        """The answer of each rule, with the reason if it had a finding and no patch."""
        return tuple(replace(each, no_changes=self._declined.get(each.rule, "")) for each in self._decisions)

    def diagnosis_of(self, patch: Patch) -> Diagnosis:
        """Return the diagnosis by the rule of a patch; the first one for a patch of the user's own."""
        return next((each for each in self.diagnoses if each.rule == patch.rule), self.diagnoses[0])

    def draw_ahead(self) -> None:
        """Begin to make the patches that are left, which the report lists as not tried if an earlier one holds."""
        self.patches.begin(MOST, MOMENT)

    def draw_rest(self) -> Iterator[Patch]:
        """Yield the patches that are left, as many as the rules produce within the time limit."""
        deadline = time.monotonic() + MOMENT
        for patch in islice(self.patches, MOST):
            yield patch
            if time.monotonic() > deadline:
                return
