"""Failure -> diagnoses: ask every rule, strongest evidence first."""

from __future__ import annotations

from collections.abc import Iterable

from devfix.catalog import Rule
from devfix.model import Blame, Diagnosis, Failure


def diagnose(failure: Failure, rules: Iterable[Rule], notes: list[str]) -> list[Diagnosis]:
    """What the rules say of a failure, strongest first; a rule that raises or speaks nonsense is named in `notes`."""
    diagnoses = []
    for rule in rules:
        try:
            blame = rule.diagnose(failure)
        except Exception as error:  # noqa: BLE001 - a rule may be anybody's code
            notes.append(f"rule {rule.id} set aside: diagnose raised {type(error).__name__}: {error}")
            continue
        if blame is None:
            continue
        if not isinstance(blame, Blame) or not 0 <= blame.operand < max(1, len(failure.operands)):
            notes.append(f"rule {rule.id} set aside: diagnose gave {blame!r}, which is no Blame of this failure")
            continue
        diagnoses.append(Diagnosis(rule.id, rule.title, failure, blame))
    return sorted(diagnoses, key=lambda each: (each.blame.strength, each.rule))
