"""Join the findings of tests that have one cause: the line, or the attribute, that a stray tensor comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from devfix.find.records import Cause, Line

# Where one tensor shows in several ways, the first of these tells most.
_KINDS = ("raises", "handled", "not-moved", "stale-cache", "result-on-host")


def group_causes(causes: Iterable[Cause]) -> list[Cause]:
    """Join what has one cause, the cause that most tests reach first; what fails in one test is silent in none.

    A tensor has one cause, whatever operator meets it in which test, and whichever rule explains that: the first cause
    that a rule explains stands for all of them.
    """
    causes = _at_home(causes)
    failing = {line for each in causes if not each.is_silent for line in (_line(each), *each.made)}
    makers = {_line(each) for each in causes if not each.is_silent}
    found: dict[tuple[str, ...], list[Cause]] = {}
    for each in causes:
        if each.is_silent and _line(each) in (failing if _is_kept(each) else makers):
            continue
        found.setdefault(_identity(each), []).append(each)
    return join_by_remedy(map(_join, found.values()))


def join_by_remedy(causes: Iterable[Cause]) -> list[Cause]:
    """Join what one change repairs, the cause that most tests reach first.

    Subclasses make the tensors that their base class keeps, each in a line of its own, and a variable may have been
    made in one of two branches: the change is of the line that keeps them.
    """
    found: dict[object, list[Cause]] = {}
    for each in causes:
        found.setdefault(each.remedy or each.key, []).append(each)
    return sorted(map(_join, found.values()), key=lambda each: (-len(each.tests), each.place.path, each.place.line))


def is_same_tensor(one: Cause, other: Cause) -> bool:
    """Return whether two findings are of tensors that one line made, for the same attribute if for any."""
    return _line(one) == _line(other) or (bool(one.made) and one.made == other.made)


def _at_home(causes: Iterable[Cause]) -> list[Cause]:
    """Return causes with one place for each attribute.

    What is computed of an attribute has no owner, and so the place at which a helper made the tensor for the owner.
    """
    causes = list(causes)
    homes = {each.made: each.place for each in causes if each.made and _line(each) != each.made[0]}
    return [replace(each, place=homes[each.made]) if each.made in homes else each for each in causes]


def _identity(cause: Cause) -> tuple[str, ...]:
    """Return what tells a cause from others; where no line made the tensor, two rules speak of two of them."""
    return (str(cause.is_silent), cause.place.path, str(cause.place.line), "" if cause.made else cause.rule)


def _join(causes: list[Cause]) -> Cause:
    """Return one cause for some, led by what shows with one GPU: the devices say in which world it is run again."""
    best = min(
        causes,
        key=lambda each: (not each.is_seen_on_one, not each.confirmed, _KINDS.index(each.kind), not each.rule),
    )
    causes = [best, *(each for each in causes if each is not best)]
    return replace(
        best,
        tests=tuple(dict.fromkeys(test for each in causes for test in each.tests)),
        devices=tuple(sorted({device for each in causes for device in each.devices})),
    )


def _is_kept(cause: Cause) -> bool:
    """Return whether a silent finding is of a tensor that an attribute keeps."""
    return cause.evidence is not None and bool(cause.evidence.attribute)


def _line(cause: Cause) -> Line:
    return cause.place.path, cause.place.line
