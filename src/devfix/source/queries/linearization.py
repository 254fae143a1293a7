"""The order in which Python looks up attributes of a class: C3, as in `type.mro`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Class = TypeVar("Class", bound=Hashable)


def linearized(
    start: Class, bases: Callable[[Class], Sequence[Class]], around: frozenset[Class] = frozenset()
) -> list[Class]:
    """Return a class and what it derives from; where Python would refuse the class, each once, depth first.

    >>> linearized("D", {"D": ["B", "C"], "B": ["A"], "C": ["A"], "A": []}.__getitem__)
    ['D', 'B', 'C', 'A']
    """
    own = [each for each in bases(start) if each not in around and each != start]
    above = [linearized(each, bases, around | {start}) for each in own]
    rows, found = [*above, own], [start]
    while rows := [row for row in rows if row]:
        heads = [row[0] for row in rows]
        free = (each for each in heads if not any(each in row[1:] for row in rows))
        head = next(free, heads[0])
        found.append(head)
        rows = [[each for each in row if each != head] for row in rows]
    return found
