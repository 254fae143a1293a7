"""Diagnose a failure with every rule."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from devfix.model import Confidence, Diagnosis, Failure, Finding
from devfix.registry import Rule
from devfix.registry.precedence import by_precedence
from devfix.registry.timeout import raised, within
from devfix.sdk import Context, Sources

SECONDS = 60.0  # usually milliseconds, but a rule may parse a file of ten thousand lines


def diagnose(failure: Failure, rules: Iterable[Rule], sources: Sources, seconds: float = SECONDS) -> list[Diagnosis]:
    """Return the findings of the rules for a failure, best evidence first.

    With equal evidence, a rule comes before those that it supersedes; otherwise rules are sorted by id. A rule that
    raises, returns something else than a finding, or takes longer than `seconds` is skipped, with a note in `sources`.
    """
    diagnoses = []
    for rule in by_precedence(rules):
        try:
            finding = within(seconds, partial(rule.diagnose, Context(failure, sources)))
        except Exception as error:
            sources.notes.add(f"rule {rule.id} disabled: diagnose {raised(error)}")
            continue
        if finding is None:
            continue
        if wrong := _misfit(finding, failure):
            sources.notes.add(f"rule {rule.id} disabled: diagnose {wrong}")
            continue
        diagnoses.append(Diagnosis(rule.id, rule.title, failure, finding))
    return sorted(diagnoses, key=lambda each: each.finding.confidence)


def _misfit(finding: object, failure: Failure) -> str:
    """Return what is wrong with what a rule returned; "" if it is a finding of this failure."""
    returned = f"returned {finding!r}, expected a Finding of this failure"
    if not isinstance(finding, Finding) or type(finding.operand) is not int:
        return returned
    count = len(failure.operands)
    if not 0 <= finding.operand < max(1, count):
        known = f"{count} operand{'s'[: count != 1]}, counted from 0"
        return f"returned a Finding of operand {finding.operand}, expected a Finding of this failure, which has {known}"
    kinds = ((finding.confidence, Confidence), (finding.reason, str), (finding.device, str))
    return "" if all(isinstance(value, kind) for value, kind in kinds) else returned
