"""Select the rules for `devfix test`: by path, by id, by pack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from devfix.errors import RuleError, UserError
from devfix.notes import Notes
from devfix.registry import Catalog, Rule, collect
from devfix.registry.files import SUFFIXES, rule_files
from devfix.registry.loading import rule_at
from devfix.rule_testing.pages.case import Case
from devfix.rule_testing.pages.page import PageError, read_page


def select_targets(targets: Sequence[str], catalog: Catalog) -> Catalog:
    """Return the rules that targets name, each once, in order; the whole catalog without targets.

    A target is a path (a page, a module, a pack's folder or a folder of packs), a rule's id, or a pack. The path of an
    installed rule selects that one; a module that is not a rule is skipped, with a line in `problems`. Raises UserError
    if a target does not exist, or two rules have one id.
    """
    if not targets:
        return catalog
    known = {rule.path.resolve(): rule for rule in catalog.rules}
    found: dict[Path, Rule] = {}
    problems = Notes()
    for target in targets:
        for rule in _select_target(target, catalog, known, problems):
            found[rule.path.resolve()] = rule
    _refuse_twins(found.values())
    return Catalog(tuple(found.values()), tuple(problems))


def _refuse_twins(rules: Iterable[Rule]) -> None:
    known: dict[str, Rule] = {}
    for rule in rules:
        if known.setdefault(rule.id, rule) is not rule:
            raise UserError(
                f"two rules are called {rule.id}: {known[rule.id].path} and {rule.path}; rename one of them"
            )


def case_filter(part: str, names: Sequence[str], rules: Iterable[Rule]) -> Callable[[Case], bool] | None:
    """Return what selects the cases with `part` in their name, and those with one of `names`; None if both are empty.

    Case does not matter for `part`. Raises UserError if no case of the rules is selected, or a name is nobody's.
    """
    if not part and not names:
        return None
    every = [case.name for rule in rules for case in cases_of(rule)]
    for name in names:
        if name not in every:
            near = get_close_matches(name, every, 3)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "-k selects by a part of the name"
            raise UserError(f"--only {name!r}: no case of these rules is called that; {hint}")

    def select(case: Case) -> bool:
        return case.name in names or (bool(part) and part.casefold() in case.name.casefold())

    if part and not names and not any(part.casefold() in name.casefold() for name in every):
        raise UserError(f"-k {part!r}: no case of these rules has that in its name; `devfix test` lists them")
    return select


def cases_of(rule: Rule) -> Sequence[Case]:
    """Return the cases on a rule's page; none if that is not in order."""
    try:
        return read_page(rule.page).cases
    except PageError:
        return ()


def _select_target(target: str, catalog: Catalog, known: dict[Path, Rule], problems: Notes) -> Iterator[Rule]:
    if not Path(target).exists():
        if target.endswith((*SUFFIXES, ".md")):
            raise UserError(f"{target}: no such file")
        yield from [rule for rule in catalog.rules if rule.pack == target] or [catalog.find(target)]
        return
    for file in rule_files(Path(target)):
        try:
            yield known.get(file.resolve()) or rule_at(file)
        except RuleError as error:
            problems.add(str(error))


def rule_for_page(page: Path) -> Rule:
    """Return the rule beside a page: the installed one if it is that, else the module there."""
    module = rule_files(page)[0].resolve()
    return next((rule for rule in collect().rules if rule.path.resolve() == module), None) or rule_at(module)
