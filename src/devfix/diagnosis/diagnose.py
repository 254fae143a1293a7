"""Failure -> diagnoses: ask every rule, strongest evidence first."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from devfix.model import Diagnosis, Failure, Finding
from devfix.registry import Rule
from devfix.registry.precedence import by_precedence
from devfix.registry.timeout import raised, within

SECONDS = 10.0  # a rule looks at one record here; milliseconds are usual


def diagnose(failure: Failure, rules: Iterable[Rule], notes: list[str], seconds: float = SECONDS) -> list[Diagnosis]:
    """What the rules say of a failure, strongest first; a rule that raises or speaks nonsense is named in `notes`.

    Of those with equally strong evidence one that supersedes another comes first, and else they come by their ids.
    A rule that takes longer than `seconds` is named too; the others go on.
    """
    diagnoses = []
    for rule in by_precedence(rules):
        try:
            blame = within(seconds, partial(rule.diagnose, failure))
        except Exception as error:
            notes.append(f"rule {rule.id} set aside: diagnose {raised(error)}")
            continue
        if blame is None:
            continue
        if not _fits(blame, failure):
            notes.append(f"rule {rule.id} set aside: diagnose gave {blame!r}, which is no Finding of this failure")
            continue
        diagnoses.append(Diagnosis(rule.id, rule.title, failure, blame))
    return sorted(diagnoses, key=lambda each: each.finding.strength)


def _fits(blame: object, failure: Failure) -> bool:
    return (
        isinstance(blame, Finding)
        and type(blame.operand) is int
        and 0 <= blame.operand < max(1, len(failure.operands))
        and type(blame.strength) is int
        and isinstance(blame.reason, str)
        and isinstance(blame.device, str)
    )
