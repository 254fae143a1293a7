"""The pytest items of a rule's page: a file, a test of its form, and a test of each case."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from devfix.errors import DevfixError
from devfix.registry import Rule
from devfix.report.plain import plain
from devfix.rule_testing.checking.page_check import page_problems
from devfix.rule_testing.checking.results import Problem, Result
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.checking.writing import format_problems
from devfix.rule_testing.pages.case import Case
from devfix.rule_testing.pages.page import read_page
from devfix.rule_testing.pages.selection import rule_for_page

_BENCH = pytest.StashKey[Bench]()


class PageFile(pytest.File):
    """A page: one test for its form, one for each case."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield the tests of the page."""
        try:
            rule, page = rule_for_page(self.path), read_page(self.path)
        except DevfixError as error:
            raise self.CollectError(str(error)) from error
        yield FormItem.from_parent(self, name="page", problems=page_problems(rule, page))
        for case in page.cases:
            yield CaseItem.from_parent(self, name=case.name, rule=rule, case=case)


class CaseFailure(Exception):
    """A case that did not pass."""


class FormItem(pytest.Item):
    """The test of the parts of a page besides its cases."""

    def __init__(self, *, problems: tuple[Problem, ...], **rest: Any) -> None:
        super().__init__(**rest)
        self.problems = problems

    def runtest(self) -> None:
        """Fail if a part is missing."""
        if self.problems:
            raise CaseFailure("\n".join(problem.what for problem in self.problems))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the problem without devfix's own stack."""
        return plain(str(excinfo.value)) if isinstance(excinfo.value, CaseFailure) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the location of the test."""
        return self.path, 0, f"page {self.path.name}"


class CaseItem(pytest.Item):
    """The test of one case."""

    result: Future[Result] | None = None

    def __init__(self, *, rule: Rule, case: Case, **rest: Any) -> None:
        super().__init__(**rest)
        self.rule, self.case = rule, case

    def runtest(self) -> None:
        """Wait for the case's result, and fail if something is wrong."""
        pending = self.result or bench(self.config).submit(self.rule, self.case)
        result = pending.result()
        if result.output:
            self.add_report_section("call", "rule", plain(result.output))
        if result.problems:
            raise CaseFailure(format_problems(result))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the problem without devfix's own stack."""
        return plain(str(excinfo.value)) if isinstance(excinfo.value, CaseFailure) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the location of the case."""
        return self.path, self.case.line - 1, f"{self.rule.id}: {self.name}"


def bench(config: pytest.Config) -> Bench:
    """The bench of this test run, created on demand."""
    if _BENCH not in config.stash:
        config.stash[_BENCH] = Bench(Path(sys.executable))
    return config.stash[_BENCH]


def start_all(session: pytest.Session) -> None:
    """Start all selected cases: they run concurrently, while pytest runs its tests in order."""
    for item in session.items:
        if isinstance(item, CaseItem):
            item.result = bench(session.config).submit(item.rule, item.case)


def close(config: pytest.Config) -> None:
    """End the prefork server and everything that it started."""
    if _BENCH in config.stash:
        config.stash[_BENCH].close()
        del config.stash[_BENCH]
