"""Check whole pages: their form, then their cases, with one result for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from devfix.registry import Rule
from devfix.rule_testing.checking.results import Problem, Result
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.pages.case import Case, Page
from devfix.rule_testing.pages.page import PageError, read_page

Started = tuple[Rule, Case, "Future[Result]"]


@dataclass(frozen=True)
class Judgement:
    """The result of a rule's page: what is wrong with the page itself, and each case's result."""

    rule: Rule
    problems: tuple[Problem, ...]
    results: tuple[Result, ...]

    @property
    def passed(self) -> bool:
        """True if nothing is wrong."""
        return not self.problems and not any(result.problems for result in self.results)


def page_problems(rule: Rule, page: Page) -> tuple[Problem, ...]:
    """Return what is wrong with a page besides its cases: another title than the rule's, or a missing kind of case."""
    problems = []
    if page.title != rule.title:
        problems.append(Problem(f"the title is not the rule's, which is the first line of its docstring: {rule.title}"))
    if not any(case.after is not None for case in page.cases):
        problems.append(Problem("no case has an `after` block: at least one program must be repaired"))
    if not any(case.after is None and case.failure is not None for case in page.cases):
        problems.append(Problem("no failing case is left alone: at least one needs `failure` and no `after`"))
    return tuple(problems)


def judge(
    rules: Sequence[Rule],
    bench: Bench,
    select: Callable[[Case], bool] | None = None,
    started: Callable[[Sequence[Started]], None] | None = None,
) -> Iterator[Judgement]:
    """Yield a judgement for each rule, in order, while the cases of all run concurrently.

    With `select`, only some cases are run, rules without such cases are left out, and pages are not judged as a whole.
    `started` is called once, with all cases.
    """
    pages: list[tuple[Rule, tuple[Problem, ...], Page | None]] = []
    for rule in rules:
        try:
            read = read_page(rule.page)
            pages.append((rule, page_problems(rule, read), read))
        except PageError as error:
            pages.append((rule, (Problem(str(error)),), None))
    if select is not None:
        pages = [(rule, problems, _part(page, select)) for rule, problems, page in pages]
        pages = [(rule, () if page else problems, page) for rule, problems, page in pages if page is None or page.cases]
    pairs = [(rule, case) for rule, _, page in pages if page for case in page.cases]
    cases = [(rule, case, result) for (rule, case), result in zip(pairs, bench.submit_all(pairs), strict=True)]
    if started is not None:
        started(cases)
    results = iter(cases)
    for rule, problems, page in pages:
        found = tuple(next(results)[2].result() for _ in page.cases) if page else ()
        yield Judgement(rule, (*problems, *(_unsafe(page, found) if page and select is None else ())), found)


def _part(page: Page | None, select: Callable[[Case], bool]) -> Page | None:
    return page and replace(page, cases=tuple(filter(select, page.cases)))


def _unsafe(page: Page, results: Sequence[Result]) -> Iterator[Problem]:
    """Yield what contradicts the page's statement on safety."""
    found = [result.safety for result in results if result.safety]
    worst = max(found, key=lambda each: each.risk, default=page.safety)
    if worst != page.safety:
        yield Problem(f"the page says `{page.safety.capitalize()}.`, while the least safe first change is '{worst}'")
