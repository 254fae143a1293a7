"""The rules that `devfix test` was asked to try: by path, by id, by pack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from devfix.errors import RuleError, UserError
from devfix.notes import Notes
from devfix.registry import Catalog, Rule, collect
from devfix.registry.loading import rule_at, rule_files


def chosen(targets: Sequence[str], catalog: Catalog) -> Catalog:
    """The rules that targets name, each once, in order; the whole catalog where there is no target.

    A target is a path (a page, a module, a pack's folder or a folder of packs), a rule's id, or a pack. A path that
    holds an installed rule gives that one; a module that is no rule is told in `troubles`. Raises UserError where a
    target names nothing.
    """
    if not targets:
        return catalog
    known = {rule.path.resolve(): rule for rule in catalog.rules}
    found: dict[Path, Rule] = {}
    troubles = Notes()
    for target in targets:
        for rule in _named(target, catalog, known, troubles):
            found[rule.path.resolve()] = rule
    return Catalog(tuple(found.values()), tuple(troubles))


def _named(target: str, catalog: Catalog, known: dict[Path, Rule], troubles: Notes) -> Iterator[Rule]:
    if not Path(target).exists():
        if target.endswith((".py", ".md")):
            raise UserError(f"{target}: no such file")
        yield from [rule for rule in catalog.rules if rule.pack == target] or [catalog.find(target)]
        return
    for file in rule_files(Path(target)):
        try:
            yield known.get(file.resolve()) or rule_at(file)
        except RuleError as error:
            troubles.add(str(error))


def rule_for_page(page: Path) -> Rule:
    """The rule beside a page: the installed one where it is that, else the module as it lies there."""
    module = rule_files(page)[0].resolve()
    return next((rule for rule in collect().rules if rule.path.resolve() == module), None) or rule_at(module)
