"""Failure -> diagnoses: ask every rule, best evidence first."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from devfix.model import Confidence, Diagnosis, Failure, Finding
from devfix.registry import Rule
from devfix.registry.precedence import by_precedence
from devfix.registry.timeout import raised, within
from devfix.sdk import Context, Sources

SECONDS = 60.0  # milliseconds are usual, and a rule may have a file of ten thousand lines parsed


def diagnose(
    failure: Failure, rules: Iterable[Rule], sources: Sources, notes: list[str], seconds: float = SECONDS
) -> list[Diagnosis]:
    """What the rules say of a failure, best evidence first; a rule that raises or speaks nonsense is named in `notes`.

    Of those with equally good evidence one that supersedes another comes first, and else they come by their ids.
    A rule that takes longer than `seconds` is named too; the others go on.
    """
    diagnoses = []
    for rule in by_precedence(rules):
        try:
            finding = within(seconds, partial(rule.diagnose, Context(failure, sources)))
        except Exception as error:
            notes.append(f"rule {rule.id} set aside: diagnose {raised(error)}")
            continue
        if finding is None:
            continue
        if not _fits(finding, failure):
            notes.append(f"rule {rule.id} set aside: diagnose gave {finding!r}, which is no Finding of this failure")
            continue
        diagnoses.append(Diagnosis(rule.id, rule.title, failure, finding))
    return sorted(diagnoses, key=lambda each: each.finding.confidence)


def _fits(finding: object, failure: Failure) -> bool:
    return (
        isinstance(finding, Finding)
        and type(finding.operand) is int
        and 0 <= finding.operand < max(1, len(failure.operands))
        and isinstance(finding.confidence, Confidence)
        and isinstance(finding.reason, str)
        and isinstance(finding.device, str)
    )
