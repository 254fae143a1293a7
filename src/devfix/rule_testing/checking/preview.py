"""Show what a rule would change in the programs of its page, without running the changes: `devfix test --preview`."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.rule_testing.checking.format import differences
from devfix.rule_testing.checking.proposal import Proposal, files_after
from devfix.rule_testing.pages.case import Case


@dataclass(frozen=True)
class Preview:
    """The proposal of a rule for a case; `proposal` is None if the program does not fail: `ending` says how it ends."""

    case: Case
    proposal: Proposal | None
    ending: str = ""

    @property
    def text(self) -> str:
        """The finding, and each change with its diff, in indented lines."""
        lines = [f"  {self.case.name}"]
        if self.proposal is None:
            lines += [f"    does not fail on a device: {self.ending}"]
        else:
            lines += [f"    {line}" for line in _show_proposal(self.case, self.proposal)]
        return "\n".join(line.rstrip() for line in lines)


def _show_proposal(case: Case, proposal: Proposal) -> list[str]:
    lines = list(proposal.notes)
    for diagnosis in proposal.diagnoses:
        lines.append(f"blamed ({diagnosis.finding.confidence.word}): {diagnosis.finding.reason}")
    if proposal.why_nothing:
        lines.append(f"left alone: {proposal.why_nothing}")
    for number, patch in enumerate(proposal.patches, 1):
        lines.append(f"{number}. {patch.title} ({patch.safety})")
        shown = differences(case.before, files_after(case, patch), "before", "change")
        lines += [f"   {line}" for line in shown.split("\n")]
    lines += [f"note: {remark}" for remark in proposal.remarks]
    if proposal.output:
        lines += ["printed by the rule:", *(f"    {line}" for line in proposal.output.rstrip("\n").split("\n"))]
    return lines
