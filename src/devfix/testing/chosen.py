"""The rules that `devfix test` was asked to try: by path, by id, by pack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from devfix.catalog import Catalog, Rule, collect
from devfix.catalog.loading import rule_at, rule_files
from devfix.errors import UserError


def chosen(targets: Sequence[str], catalog: Catalog) -> list[Rule]:
    """The rules that targets name, each once, in order; all of the catalog where there is no target.

    A target is a path (a page, a module, a pack's folder or a folder of packs), a rule's id, or a pack. A path that
    holds an installed rule gives that one. Raises UserError where a target names nothing, RuleError where it is none.
    """
    if not targets:
        return list(catalog.rules)
    known = {rule.path.resolve(): rule for rule in catalog.rules}
    found: dict[Path, Rule] = {}
    for target in targets:
        for rule in _named(target, catalog, known):
            found[rule.path.resolve()] = rule
    return list(found.values())


def _named(target: str, catalog: Catalog, known: dict[Path, Rule]) -> Iterable[Rule]:
    if Path(target).exists():
        for file in rule_files(Path(target)):
            yield known.get(file.resolve()) or rule_at(file)
        return
    if target.endswith((".py", ".md")):
        raise UserError(f"{target}: no such file")
    pack = [rule for rule in catalog.rules if rule.pack == target]
    yield from pack or [catalog.find(target)]


def rule_for_page(page: Path) -> Rule:
    """The rule beside a page: the installed one where it is that, else the module as it lies there."""
    module = rule_files(page)[0].resolve()
    return next((rule for rule in collect().rules if rule.path.resolve() == module), None) or rule_at(module)
