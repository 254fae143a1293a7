"""A rule's answer to the failure of a case, before any of its changes is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import BEYOND, CHANGES_A_RULE, propose
from devfix.discovery import claimed_devices
from devfix.model import DeviceType, Diagnosis, Failure, Patch, Rejected, RuleDecision
from devfix.registry import Rule
from devfix.registry.rule_output import collected_output
from devfix.rule_testing.pages.case import Case
from devfix.sdk import Sources


@dataclass(frozen=True)
class Proposal:
    """A rule's finding for a case, and its changes.

    `declined` is why it has no finding, or no changes, if it says so. `notes` say what went wrong, and `output` is what
    the rule printed.
    """

    diagnoses: tuple[Diagnosis, ...]
    patches: tuple[Patch, ...]
    rejected: tuple[Rejected, ...]
    notes: tuple[str, ...]
    output: str
    declined: str = ""

    @property
    def why_nothing(self) -> str:
        """Why the rule changes nothing: which of its two functions returned nothing; "" if it proposes a change."""
        if not self.diagnoses:
            return f"`diagnose` declines: {self.declined}" if self.declined else "`diagnose` blames nothing"
        if self.rejected and not self.patches:
            return self.rejected[0].reason
        if self.declined and not self.patches:
            return f"`propose` declines: {self.declined}"
        return "" if self.patches else "`propose` yields no change"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks for the author, beside what is wrong."""
        if all(each.reason != BEYOND for each in self.rejected):
            return ()
        return (f"a repair takes the first {CHANGES_A_RULE} changes of a rule: this one yields more",)


def proposal_for(rule: Rule, case: Case, failure: Failure) -> Proposal:
    """Return what a rule says about a failure of a case's program, as in a repair."""
    ready = rule.with_options(case.options)
    sources = sources_of(case)
    rejected: list[Rejected] = []
    decisions: list[RuleDecision] = []
    declined: dict[str, str] = {}
    with collected_output() as output:
        diagnoses = diagnose(failure, [ready], sources, decisions=decisions)
        patches = tuple(propose(diagnoses, {rule.id: ready}, sources, rejected=rejected, declined=declined))
    why = declined.get(rule.id, "") or "".join(each.reason for each in decisions if each.answer == "declined")
    return Proposal(tuple(diagnoses), patches, tuple(rejected), tuple(sources.notes), output.getvalue(), why)


def sources_of(case: Case) -> Sources:
    """Return the editable files of a case."""
    return Sources(case.before.get, partial(_containing, case))


def claimed_by(case: Case) -> tuple[DeviceType, ...]:
    """Return the kinds of accelerator besides CUDA that the program of a case claims to support."""
    return claimed_devices(partial(_containing, case))


def _containing(case: Case, texts: Sequence[str]) -> list[str]:
    return [path for path, data in sorted(case.before.items()) if any(text.encode() in data for text in texts)]


def files_after(case: Case, patch: Patch) -> Mapping[str, bytes]:
    """Return the program's files as a patch leaves them."""
    return {**case.before, **{edit.path: edit.after for edit in patch.edits}}
