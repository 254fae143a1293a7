"""The regression test of a fix: its record, and its lines in a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from devfix.model import Repair
from devfix.report.render.plain import one_line, plain

Record = Mapping[str, Any]


def guard_record(repair: Repair) -> dict[str, Any]:
    """Return the part of a fix's record about its test: "test", else "untested" with the reason, if there is one."""
    guard = repair.regression_test
    if guard is None:
        return {"untested": repair.no_test_reason} if repair.no_test_reason else {}
    worlds = {name: {"before": before, "after": after} for name, (before, after) in guard.worlds.items()}
    record = {
        "path": guard.path,
        "text": guard.text,
        "drives": guard.exercises,
        "since": guard.passes_after_fix,
        "worlds": worlds,
    }
    return {"test": record}


def regression_test(fix: Record, whole: bool) -> Iterator[RenderableType]:
    """Yield the regression test of a fix, with its source if `whole`."""
    if why := fix.get("untested"):
        yield Text(f"\nNo regression test: {one_line(why, 300)}")
    if test := fix.get("test"):
        yield Text.assemble(
            "\nRegression test ", (plain(test["path"]), "bold"), f": {one_line(test['drives'])}; {seen(test)}"
        )
        if whole:
            lines = "\n".join(f"+{line}" for line in plain(test["text"]).splitlines())
            yield Padding(Text(lines, style="green"), (1, 0, 0, 0))


def seen(test: Record) -> str:
    """Return in which worlds the test failed without the fix and passed with it."""
    before = [each["before"] for each in test["worlds"].values()]
    count, passed = len(before), before.count("clean")
    if not passed:
        return f"verified to fail without the fix and to pass with it, in all {count} worlds"
    return f"verified to fail without the fix in {count - passed} of {count} worlds, and to pass with it in all"
