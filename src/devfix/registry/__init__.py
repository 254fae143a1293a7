"""Collect rules: those of installed packs, found by entry points, and local ones that the user names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from devfix.errors import RuleError, UserError
from devfix.notes import Notes
from devfix.registry.files import orphans, rule_files, too_deep
from devfix.registry.loading import imports_torch, pack_rules, rule_at
from devfix.registry.precedence import problems_of
from devfix.registry.rule import Rule, rule_from

__all__ = ["GROUP", "Catalog", "Rule", "collect", "rule_from"]

GROUP = "devfix.rules"


@dataclass(frozen=True)
class Catalog:
    """The rules, sorted by id, and why others were skipped, one line each."""

    rules: tuple[Rule, ...]
    problems: tuple[str, ...] = ()

    def find(self, identifier: str) -> Rule:
        """Return the rule with an id. Raises UserError if there is none."""
        for rule in self.rules:
            if rule.id == identifier:
                return rule
        near = [rule.id for rule in self.rules if identifier.split("/")[-1] in rule.id]
        hint = f"did you mean {', '.join(near[:3])}?" if near else "`devfix rules` lists them"
        raise UserError(f"{identifier}: no such rule; {hint}")


def collect(
    paths: Iterable[Path] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> Catalog:
    """Collect the installed rules and the local ones at `paths`, with their options.

    `select` and `ignore` hold ids or packs; `options` maps ids to configured values. A module that is not a rule is
    skipped, with a line in `problems`. Raises UserError for a path without rules, a selected name that does not exist,
    and options that a rule does not have.
    """
    problems = Notes()
    every: dict[str, Rule] = {}
    # What somebody names comes before what is installed: it may be the next version of it.
    for rule in [*_local(paths, problems), *_load_installed(problems)]:
        known = every.setdefault(rule.id, rule)
        if known.path.resolve() != rule.path.resolve():
            problems.add(f"{rule.path}: set aside, since {known.origin} has a rule {rule.id} as well")
    _check(select, every, "select")
    chosen = [
        rule
        for rule in every.values()
        if (not select or _matches_name(rule, select)) and not _matches_name(rule, ignore)
    ]
    problems.add(*(f"options for {name}: there is no such rule" for name in options or {} if name not in every))
    problems.add(*problems_of(sorted(every.values(), key=lambda rule: rule.id)))
    ready = (rule.with_options((options or {}).get(rule.id, {})) for rule in chosen)
    return Catalog(tuple(sorted(ready, key=lambda rule: rule.id)), tuple(problems))


def _load_installed(problems: Notes) -> Iterator[Rule]:
    points = sorted(
        entry_points(group=GROUP), key=lambda point: (not point.value.startswith("devfix_rules."), point.name)
    )
    for point in points:
        yield from pack_rules(point, problems)


def _local(paths: Iterable[Path], problems: Notes) -> Iterator[Rule]:
    paths = list(paths)
    for path in paths:
        problems.add(*(f"{page}: the page of a rule without its module, {page.stem}.py" for page in orphans(path)))
        deep = (file for file in too_deep(path) if file.parent not in paths)
        problems.add(*(f"{file}: in too deep a folder: name that folder" for file in deep))
    for file in (file for path in paths for file in rule_files(path)):
        try:
            yield rule_at(file)
        except RuleError as error:
            problems.add(str(error))
            continue
        if file.suffix == ".py" and imports_torch(file):
            problems.add(f"{file}: imports torch, which devfix may not have and which slows every command")


def _matches_name(rule: Rule, names: Sequence[str]) -> bool:
    return rule.id in names or rule.pack in names


def _check(names: Sequence[str], rules: Mapping[str, Rule], key: str) -> None:
    known = {*rules, *(rule.pack for rule in rules.values())}
    for name in names:
        if name not in known:
            raise UserError(f"{key}: no rule or pack is called {name!r}; `devfix rules` lists them")
