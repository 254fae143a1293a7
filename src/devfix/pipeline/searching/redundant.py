"""Yield patches that may do without a part of the first of several fixes, which later ones may have made needless."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise

from devfix.model import Edit, Failure, Patch
from devfix.pipeline.searching.companions import with_companion
from devfix.source.text import first_difference
from devfix.verification.edit_map import touches
from devfix.verification.rebase import rebase


def patches_with_less(patches: Sequence[Patch], failure: Failure) -> Iterator[Patch]:
    """Yield what may be run in place of the first patch, against the files that it was made for.

    That is each later patch alone, then the second with those after it, one more at a time: `u = zeros_like(mu)` and
    `v = zeros_like(nu)` are right if both `mu` and `nu` are. Each edits what the failure ran through.
    """
    for number, patch in enumerate(patches[1:], start=1):
        alone = rebase(patch, [edit for earlier in patches[:number] for edit in earlier.edits])
        if alone is not None and touches(failure, alone.edits):
            yield alone
    for end in range(3, len(patches) + 1):
        together = rebase(reduce(with_companion, patches[1:end]), patches[0].edits)
        if together is not None and touches(failure, together.edits):
            yield together


def sequences_with_less(patches: Sequence[Patch]) -> Iterator[list[Patch]]:
    """Yield the patches without the first, or with the first without one of its parts.

    Each patch starts from the files that the one before leads to. What a later patch edits again cannot be left out.
    """
    first, *later = patches
    parts = first.parts or (first,)
    for number, part in enumerate(parts):
        own, rest = [*parts[:number], *parts[number + 1 :]], [*parts[number + 1 :], *later]
        states = [dict[str, bytes]((each.path, each.before) for each in part.edits)]
        for end in range(1, len(rest) + 1):
            made = rebase(reduce(with_companion, rest[:end]), part.edits)
            if made is None:
                break
            states.append(states[0] | {each.path: each.after for each in made.edits})
        if len(states) != len(rest) + 1:
            continue
        kept = states[len(parts) - number - 1 :]
        begun = [_between(reduce(with_companion, own), _before(first), kept[0])] if own else []
        ends = [_between(each, *pair) for each, pair in zip(later, pairwise(kept), strict=True)]
        yield [replace(each, rule=first.rule, parts=()) for each in begun] + ends


def _before(patch: Patch) -> dict[str, bytes]:
    return {each.path: each.before for each in patch.edits}


def _between(patch: Patch, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Patch:
    """Return a patch with edits that lead from some files to others; files that are not named there stay."""
    known = {**_before(patch), **before}
    edits = [
        Edit(path, first_difference(known[path], data), known[path], data)
        for path, data in after.items()
        if path in known and known[path] != data
    ]
    return replace(patch, edits=tuple(edits))
