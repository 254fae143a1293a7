"""Check whole pages: their form, then their cases, with one result for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from devfix.registry import Rule
from devfix.rule_testing.case import Page
from devfix.rule_testing.page import PageError, read_page
from devfix.rule_testing.results import Result, Trouble
from devfix.rule_testing.runner import Bench
from devfix.rule_testing.updating import updated


@dataclass(frozen=True)
class Judgement:
    """The result of a rule's page: what is wrong with the page itself, and each case's result."""

    rule: Rule
    troubles: tuple[Trouble, ...]
    results: tuple[Result, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.troubles and not any(result.troubles for result in self.results)


def page_troubles(rule: Rule, page: Page) -> tuple[Trouble, ...]:
    """Return what is wrong with a page besides its cases: another title than the rule's, or a missing kind of case."""
    troubles = []
    if page.title != rule.title:
        troubles.append(Trouble(f"the title is not the rule's, which is the first line of its docstring: {rule.title}"))
    if not any(case.after is not None for case in page.cases):
        troubles.append(Trouble("no case is repaired: at least one needs an `after` block"))
    if not any(case.after is None and case.failure is not None for case in page.cases):
        troubles.append(Trouble("no failing case is left alone: at least one needs `failure` and no `after`"))
    return tuple(troubles)


def judge(rules: Sequence[Rule], bench: Bench) -> Iterator[Judgement]:
    """Yield a judgement for each rule, in order, while the cases of all run concurrently."""
    pages: list[tuple[Rule, tuple[Trouble, ...], Page | None]] = []
    for rule in rules:
        try:
            read = read_page(rule.page)
            pages.append((rule, page_troubles(rule, read), read))
        except PageError as error:
            pages.append((rule, (Trouble(str(error)),), None))
    results = bench.check_all([(rule, case) for rule, _, page in pages if page for case in page.cases])
    for rule, troubles, page in pages:
        found = tuple(next(results) for _ in page.cases) if page else ()
        yield Judgement(rule, (*troubles, *(_unsafe(page, found) if page else ())), found)


def _unsafe(page: Page, results: Sequence[Result]) -> Iterator[Trouble]:
    """Yield what contradicts the page's statement on safety."""
    found = [result.safety for result in results if result.safety]
    worst = max(found, key=lambda each: each.risk, default=page.safety)
    if worst != page.safety:
        yield Trouble(f"the page says `{page.safety.capitalize()}.`, while the least safe first change is '{worst}'")


def update_page(rule: Rule, bench: Bench) -> bool:
    """Write the rule's results into its page; return whether that changed it. Raises PageError if it is not a page."""
    page = read_page(rule.page)
    text = updated(page, bench.check_all([(rule, case) for case in page.cases]))
    if text == page.text:
        return False
    rule.page.write_bytes(text.encode())
    return True
