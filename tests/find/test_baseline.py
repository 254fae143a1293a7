"""Baselines: which findings of a search are known from an earlier one."""

from __future__ import annotations

from dataclasses import replace

from devfix.find.baseline import Baseline
from devfix.find.records import Cause, FindReport
from devfix.model import SourceLocation

SOURCE = ("", "a = torch.ones(n)", "b = torch.zeros(n)", "c = torch.arange(n)")
KEY = ("raises", "library.py", "shifted")


def cause(line: int, rule: str = "") -> Cause:
    place = SourceLocation("library.py", line, "shifted", owned=True)
    return Cause("raises", place, place, rule, "", None, (), ("test",), ("cuda:0",))


def new(baseline: Baseline, *causes: Cause) -> list[int]:
    """Return the lines of the findings that are new."""
    report = baseline.without_known(FindReport("", "", causes=causes), lambda path, line: SOURCE[line])
    assert len(report.causes) + len(report.known) == len(causes)
    return [each.place.line for each in report.causes]


def test_a_finding_stays_known_whichever_rule_explains_it() -> None:
    baseline = Baseline([(KEY, SOURCE[1])])
    assert new(baseline, cause(1, "placement/factory-without-device")) == []
    assert new(baseline, cause(1, "placement/random-factory")) == []


def test_what_a_function_has_more_is_new() -> None:
    baseline = Baseline([(KEY, SOURCE[2])])
    assert new(baseline, cause(1), cause(2), cause(3)) == [1, 3]
    assert new(baseline, cause(2), cause(2, "another")) == [2]


def test_a_line_that_was_edited_is_known_by_its_function() -> None:
    assert new(Baseline([(KEY, "a = torch.ones(m)")]), cause(1)) == []
    elsewhere = replace(cause(1), place=SourceLocation("library.py", 1, "scaled", owned=True))
    assert new(Baseline([(KEY, SOURCE[1])]), elsewhere) == [1]
    assert new(Baseline(), cause(1)) == [1]
