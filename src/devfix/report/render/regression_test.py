"""The regression test of a fix: its lines in a report."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from devfix.report.plain import one_line, plain
from devfix.report.types import FixRecord, RegressionTestRecord


def regression_test(fix: FixRecord, whole: bool) -> Iterator[RenderableType]:
    """Yield the regression test of a fix, with its source if `whole`."""
    if why := fix.no_test_reason:
        yield Text(f"\nNo regression test: {one_line(why, 300)}")
    if test := fix.regression_test:
        yield Text.assemble(
            "\nRegression test ", (plain(test.path), "bold"), f": {one_line(test.exercises)}; {describe_worlds(test)}"
        )
        if whole:
            lines = "\n".join(f"+{line}" for line in plain(test.text).splitlines())
            yield Padding(Text(lines, style="green"), (1, 0, 0, 0))


def describe_worlds(test: RegressionTestRecord) -> str:
    """Return in which worlds the test failed without the fix and passed with it."""
    before = [each.before for each in test.worlds.values()]
    count, passed = len(before), before.count("clean")
    if not passed:
        return f"verified to fail without the fix and to pass with it, in all {count} worlds"
    return f"verified to fail without the fix in {count - passed} of {count} worlds, and to pass with it in all"
