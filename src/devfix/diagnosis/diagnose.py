"""Diagnose a failure with every rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from devfix.model import Confidence, Diagnosis, Failure, Finding, RuleDecision
from devfix.registry import Rule
from devfix.registry.precedence import by_precedence
from devfix.registry.timeout import describe_error, within
from devfix.sdk import Context, Sources
from devfix.sdk.declining import Declined

SECONDS = 60.0  # usually milliseconds, but a rule may parse a file of ten thousand lines


def diagnose(
    failure: Failure,
    rules: Iterable[Rule],
    sources: Sources,
    seconds: float = SECONDS,
    decisions: list[RuleDecision] | None = None,
) -> list[Diagnosis]:
    """Return the findings of the rules for a failure, best evidence first.

    With equal evidence, a rule comes before those that it supersedes; otherwise rules are sorted by id. A rule that
    raises, returns something else than a finding, or takes longer than `seconds` is skipped, with a note in `sources`.
    What each rule decided is added to `decisions`.
    """
    diagnoses: list[Diagnosis] = []
    others: list[RuleDecision] = []
    ordered = by_precedence(rules)
    for rule in ordered:
        answer = _ask(rule, failure, sources, seconds)
        if isinstance(answer, Finding):
            diagnoses.append(Diagnosis(rule.id, rule.title, failure, answer))
        else:
            others.append(answer)
    diagnoses.sort(key=lambda each: each.finding.confidence)
    if decisions is not None:
        known = {rule.id: rule for rule in ordered}
        before = [None, *diagnoses]
        decisions += [_explain_order(each, last, known) for last, each in zip(before, diagnoses, strict=False)]
        decisions += sorted(others, key=lambda each: each.rule)
    return diagnoses


def _ask(rule: Rule, failure: Failure, sources: Sources, seconds: float) -> Finding | RuleDecision:
    """Return the finding of a rule, or why it has none."""
    try:
        finding = within(seconds, partial(rule.diagnose, Context(failure, sources)))
    except Declined as error:
        return RuleDecision(rule.id, "declined", str(error))
    except Exception as error:
        wrong = describe_error(error)
    else:
        if finding is None:
            return RuleDecision(rule.id, "declined")
        wrong = _misfit(finding, failure)
        if not wrong:
            return finding
    sources.notes.add(f"rule {rule.id} disabled: diagnose {wrong}")
    return RuleDecision(rule.id, "failed", f"diagnose {wrong}")


def _explain_order(diagnosis: Diagnosis, last: Diagnosis | None, rules: Mapping[str, Rule]) -> RuleDecision:
    """Return the decision of a rule that blamed, with why it comes after the rule before it."""
    finding, why = diagnosis.finding, ""
    if last is not None:
        if last.finding.confidence != finding.confidence:
            why = f"after {last.rule}, whose evidence is better"
        elif diagnosis.rule in rules[last.rule].supersedes:
            why = f"after {last.rule}, which supersedes it"
        else:
            why = f"after {last.rule}, whose evidence is as good"
    return RuleDecision(diagnosis.rule, "blamed", finding.reason, finding.confidence, why)


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
