"""Diagnoses -> patches, best first: what each rule would change, without repetition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from devfix.catalog import Rule
from devfix.model import Diagnosis, Patch
from devfix.sdk import Change, Sources

CHANGES_A_RULE = 16


def propose(
    diagnoses: Sequence[Diagnosis], rules: Mapping[str, Rule], source: Sources, notes: list[str]
) -> Iterator[Patch]:
    """Yield every candidate once, in the order of the diagnoses and, within one, of the rule."""
    seen: set[tuple[tuple[str, bytes], ...]] = set()
    for diagnosis in diagnoses:
        for number, change in enumerate(_changes(rules[diagnosis.rule], diagnosis, source, notes)):
            key = tuple(sorted((edit.path, edit.after) for edit in change.edits))
            if key in seen:
                continue
            seen.add(key)
            because = " ".join(filter(None, (diagnosis.blame.because, change.because)))
            rank = (diagnosis.blame.strength, number)
            yield Patch(diagnosis.rule, change.title, because, change.safety, change.edits, rank)


def _changes(rule: Rule, diagnosis: Diagnosis, source: Sources, notes: list[str]) -> Iterator[Change]:
    try:
        for number, change in enumerate(rule.propose(diagnosis, source)):
            if number >= CHANGES_A_RULE:
                return
            if isinstance(change, Change) and change.edits:
                yield change
            else:
                notes.append(f"rule {rule.id}: yielded {type(change).__name__}, which is no change")
    except Exception as error:  # noqa: BLE001 - a rule may be anybody's code
        notes.append(f"rule {rule.id} set aside: propose raised {type(error).__name__}: {error}")
