"""Yield patches that may do without a part of the first of several fixes, which later ones may have made needless."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from devfix.model import Failure, Patch
from devfix.pipeline.searching.companions import with_companion
from devfix.verification.edit_map import touches
from devfix.verification.rebase import rebase


def number_of_parts(patches: Sequence[Patch]) -> int:
    """Return of how many patches of rules some patches were made."""
    return sum(len(each.parts) or 1 for each in patches)


def patches_with_less(patches: Sequence[Patch], failure: Failure) -> Iterator[Patch]:
    """Yield what may be run in place of the first patch, against the files that it was made for.

    That is each later patch alone, if it edits what the failure ran through; then the second with those after it, one
    more at a time: `u = zeros_like(mu)` and `v = zeros_like(nu)` are right if both `mu` and `nu` are. At last the first
    patch without one of its parts, alone and with each later patch.
    """
    later = [_alone(patch, patches[:number]) for number, patch in enumerate(patches) if number]
    yield from (each for each in later if each is not None and touches(failure, each.edits))
    for end in range(3, len(patches) + 1):
        together = rebase(reduce(with_companion, patches[1:end]), patches[0].edits)
        if together is not None and _edits_beside(together, patches[0]):
            yield together
    for number, part in enumerate(patches[0].parts):
        beside = [_alone(patch, patches[1:at]) for at, patch in enumerate(patches) if at and _edits_beside(patch, part)]
        for other in (None, *beside):
            yield from _without(patches[0], number, other)


def _alone(patch: Patch, earlier: Sequence[Patch]) -> Patch | None:
    return rebase(patch, [edit for each in earlier for edit in each.edits])


def _without(first: Patch, number: int, later: Patch | None) -> Iterator[Patch]:
    """Yield a patch without one of its parts, and with a later patch, if they edit different lines."""
    after = [*first.parts[number + 1 :], *([later] if later is not None else [])]
    if not after:
        return
    rest = rebase(reduce(with_companion, after), first.parts[number].edits)
    if rest is not None:
        yield replace(reduce(with_companion, [*first.parts[:number], rest]), rule=first.rule)


def _edits_beside(patch: Patch, first: Patch) -> bool:
    """Return whether a patch edits a file that the first one edits too; else each has a cause of its own."""
    return bool({edit.path for edit in patch.edits} & {edit.path for edit in first.edits})
