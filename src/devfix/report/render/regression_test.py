"""The test that guards a fix: its record, and how a person reads of it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from devfix.model import RegressionTest
from devfix.report.render.plain import one_line, plain
from devfix.report.types import BeforeAfter, FixRecord, RegressionTestRecord


def test_record(test: RegressionTest) -> RegressionTestRecord:
    """Return the record of the test that guards a fix."""
    return RegressionTestRecord(
        path=test.path,
        text=test.text,
        exercises=test.exercises,
        passes_after_fix=test.passes_after_fix,
        worlds={name: BeforeAfter(before=before, after=after) for name, (before, after) in test.worlds.items()},
    )


def guarded(fix: FixRecord, whole: bool) -> Iterator[RenderableType]:
    """Yield what guards a fix, with the text of the test where that is asked for."""
    if why := fix.no_test_reason:
        yield Text(f"\nNo test was written: {one_line(why, 300)}")
    if test := fix.regression_test:
        yield Text.assemble("\nTest ", (plain(test.path), "bold"), f": {one_line(test.exercises)}; {seen(test)}")
        if whole:
            lines = "\n".join(f"+{line}" for line in plain(test.text).splitlines())
            yield Padding(Text(lines, style="green"), (1, 0, 0, 0))


def seen(test: RegressionTestRecord) -> str:
    """Say what devfix has seen the test do."""
    before = [each.before for each in test.worlds.values()]
    count, passed = len(before), before.count("clean")
    if not passed:
        return f"seen to fail without the fix and to pass with it, in all {count} worlds"
    return f"seen to fail without the fix in {count - passed} of {count} worlds, and to pass with it in all"
