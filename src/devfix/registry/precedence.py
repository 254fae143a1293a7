"""Order rules with equally strong evidence: a rule comes before those that it declares to supersede."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from devfix.registry.rule import Rule


def by_precedence(rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules in an order in which each comes before those that it supersedes, and otherwise by id.

    Names of other rules and circular declarations are ignored.
    """
    every = {rule.id: rule for rule in rules}
    later = {name: [each for each in rule.supersedes if each in every] for name, rule in every.items()}
    waits = dict.fromkeys(every, 0)
    for names in later.values():
        for name in names:
            waits[name] += 1
    ready = [name for name, count in waits.items() if count == 0]
    heapify(ready)
    order: list[str] = []
    while ready:
        name = heappop(ready)
        order.append(name)
        for each in later[name]:
            waits[each] -= 1
            if waits[each] == 0:
                heappush(ready, each)
    return [every[name] for name in (*order, *sorted(every.keys() - set(order)))]


def problems_of(rules: Sequence[Rule]) -> list[str]:
    """Return what is wrong with the declared precedence, one line each: unknown ids, and circles."""
    every = {rule.id: rule for rule in rules}
    found = [
        f"rule {rule.id} supersedes {name!r}, which is not a rule: that is ignored"
        for rule in rules
        for name in rule.supersedes
        if name not in every
    ]
    reported: set[frozenset[str]] = set()
    for rule in rules:
        circle = _circle(rule.id, every)
        if circle and frozenset(circle) not in reported:
            reported.add(frozenset(circle))
            found.append(f"rules supersede each other in a circle: {' > '.join([*circle, circle[0]])}; none counts")
    return found


def _circle(start: str, rules: dict[str, Rule]) -> list[str]:
    """Return the shortest path from a rule back to itself; [] if there is none."""
    ways = [[start]]
    seen: set[str] = set()
    for way in ways:  # the list grows during the iteration
        for name in rules[way[-1]].supersedes:
            if name == start:
                return way
            if name in rules and name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return []
