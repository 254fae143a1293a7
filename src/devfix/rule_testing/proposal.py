"""What a rule says about the failure of a case, before any of its changes is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import BEYOND, CHANGES_A_RULE, propose
from devfix.model import Diagnosis, Failure, Patch, Rejected
from devfix.registry import Rule
from devfix.registry.rule_output import collected_output
from devfix.rule_testing.case import Case
from devfix.sdk import Sources


@dataclass(frozen=True)
class Proposal:
    """A rule's finding for a case, and its changes; `notes` say what went wrong, `output` is what the rule printed."""

    diagnoses: tuple[Diagnosis, ...]
    patches: tuple[Patch, ...]
    rejected: tuple[Rejected, ...]
    notes: tuple[str, ...]
    output: str

    @property
    def why_nothing(self) -> str:
        """Why the rule changes nothing: which of its two functions returned nothing; "" if it proposes a change."""
        if not self.diagnoses:
            return "`diagnose` blames nothing"
        if self.rejected and not self.patches:
            return self.rejected[0].reason
        return "" if self.patches else "`propose` yields no change"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What an author should know beside what is wrong."""
        if all(each.reason != BEYOND for each in self.rejected):
            return ()
        return (f"a repair takes the first {CHANGES_A_RULE} changes of a rule: this one yields more",)


def proposal_for(rule: Rule, case: Case, failure: Failure) -> Proposal:
    """Return what a rule says about a failure of a case's program, as in a repair."""
    ready = rule.with_options(case.options)
    sources = sources_of(case)
    rejected: list[Rejected] = []
    with collected_output() as output:
        diagnoses = diagnose(failure, [ready], sources)
        patches = tuple(propose(diagnoses, {rule.id: ready}, sources, rejected=rejected))
    return Proposal(tuple(diagnoses), patches, tuple(rejected), tuple(sources.notes), output.getvalue())


def sources_of(case: Case) -> Sources:
    """Return the editable files of a case."""

    def search(texts: Sequence[str]) -> list[str]:
        return [path for path, data in sorted(case.before.items()) if any(text.encode() in data for text in texts)]

    return Sources(case.before.get, search)


def files_after(case: Case, patch: Patch) -> Mapping[str, bytes]:
    """Return the program's files as a patch leaves them."""
    return {**case.before, **{edit.path: edit.after for edit in patch.edits}}
