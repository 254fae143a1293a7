"""The decision of each rule about each failure, as text: `devfix repair --explain-rules`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from devfix.report.plain import one_line
from devfix.report.types import ReportRecord, RuleRecord

SAME = "the same change as that of "
LONGEST = 1000  # characters of a line


def explained_rules(data: ReportRecord) -> str:
    """Return, for each failure, the rules that blamed, with their candidates, and why others declined."""
    lines: list[str] = []
    for index in range(len(data.failures)):
        rules = [each for each in data.rules if each.failure == index]
        blamed = [each for each in rules if each.answer == "blamed"]
        lines += ["", f"Rules for failure {index + 1}: {len(blamed)} of {len(rules)} blame an operand"]
        for each in blamed:
            lines += [f"  {line}" for line in _explain_rule(data, each)]
        lines += [f"  {line}" for line in _others(rules)]
    return "".join(f"{' ' * (len(line) - len(line.lstrip(' ')))}{one_line(line, LONGEST)}\n" for line in lines)


def _explain_rule(data: ReportRecord, rule: RuleRecord) -> Iterator[str]:
    place = f" ({rule.precedence})" if rule.precedence else ""
    yield f"{rule.rule}: blamed, {rule.confidence}{place}"
    yield f"    {rule.reason}"
    candidates = list(_candidates(data, rule))
    yield from (f"    {line}" for line in candidates)
    if rule.no_changes:
        yield f"    declined to propose {'more' if candidates else 'a change'}: {rule.no_changes}"
    elif not candidates:
        yield "    proposed no change"


def _candidates(data: ReportRecord, rule: RuleRecord) -> Iterator[str]:
    """Yield the candidates of a rule, and what became of each; those that others proposed first as a number."""
    for fix in data.fixes:
        if (fix.failure, fix.rule) == (rule.failure, rule.rule):
            yield f"kept: {fix.title} ({fix.safety})"
    left = [each for each in data.not_kept if (each.failure, each.rule) == (rule.failure, rule.rule)]
    for each in left:
        if not each.reason.startswith(SAME):
            what, reason = ("rejected" if each.tried else "not run"), each.reason.removeprefix("not tried: ")
            yield f"{what}: {each.title} at {each.path}:{each.line}: {reason}"
    for reason, count in Counter(each.reason for each in left if each.reason.startswith(SAME)).items():
        yield f"not run: {count} more, {'each ' if count > 1 else ''}{reason}"


def _others(rules: list[RuleRecord]) -> Iterator[str]:
    for answer in ("failed", "declined"):
        yield from (f"{each.rule}: {answer}: {each.reason}" for each in rules if each.answer == answer and each.reason)
    silent = [each.rule for each in rules if each.answer == "declined" and not each.reason]
    if silent:
        yield f"declined without a reason: {len(silent)} others"
