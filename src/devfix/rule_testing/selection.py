"""Select the rules for `devfix test`: by path, by id, by pack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from devfix.errors import RuleError, UserError
from devfix.notes import Notes
from devfix.registry import Catalog, Rule, collect
from devfix.registry.loading import rule_at, rule_files


def chosen(targets: Sequence[str], catalog: Catalog) -> Catalog:
    """Return the rules that targets name, each once, in order; the whole catalog without targets.

    A target is a path (a page, a module, a pack's folder or a folder of packs), a rule's id, or a pack. The path of an
    installed rule selects that one; a module that is not a rule is skipped, with a line in `troubles`. Raises UserError
    if a target does not exist.
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
    """Return the rule beside a page: the installed one if it is that, else the module there."""
    module = rule_files(page)[0].resolve()
    return next((rule for rule in collect().rules if rule.path.resolve() == module), None) or rule_at(module)
