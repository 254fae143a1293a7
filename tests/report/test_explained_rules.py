"""The section of a text report on what each rule decided."""

from __future__ import annotations

from dataclasses import replace

from sample_report import patch, report

from devfix.model import Confidence, Rejected, RuleDecision
from devfix.report.record import record
from devfix.report.render.machine_readable.json import dump, read
from devfix.report.render.terminal.rules import explained_rules

TAKES, SAME = "not tried: p/a takes precedence", "the same change as that of p/a, which comes first"
DECISIONS = (
    RuleDecision("placement/input-not-moved", "blamed", "It was left.", Confidence.DIRECT),
    RuleDecision("acme/late", "blamed", "It is late.", Confidence.GUESS, "after placement/input-not-moved", "no file"),
    RuleDecision("acme/none", "blamed", "It is there.", Confidence.GUESS, "after acme/late"),
    RuleDecision("acme/wrong", "failed", "diagnose raised KeyError: 'x'"),
    RuleDecision("acme/told", "declined", "it is\ta loop\nvariable"),
    RuleDecision("acme/silent", "declined"),
)


def test_rules_are_listed_with_their_candidates_and_reasons() -> None:
    whole = report()
    untried = [Rejected(patch("Move it"), reason) for reason in (TAKES, SAME, SAME)]
    repair = replace(whole.repairs[0], decisions=DECISIONS, untried=tuple(untried))
    whole = replace(whole, repairs=(repair, *whole.repairs[1:]))
    data = read(dump(record(whole)))
    lines = explained_rules(data).splitlines()
    first = whole.repairs[0]
    assert first.fix is not None
    assert lines[1:4] == [
        "Rules for failure 1: 3 of 6 blame an operand",
        "  placement/input-not-moved: blamed, direct",
        "      It was left.",
    ]
    assert lines[4] == f"      kept: {first.fix.patch.title} (safe)"
    assert lines[5].startswith(f"      rejected: {first.rejected[0].patch.title.strip()} at ")
    assert lines[6:8] == [
        "      not run: Move it at train.py:4: p/a takes precedence",
        "      not run: 2 more, each the same change as that of p/a, which comes first",
    ]
    assert lines[8:] == [
        "  acme/late: blamed, guess (after placement/input-not-moved)",
        "      It is late.",
        "      declined to propose a change: no file",
        "  acme/none: blamed, guess (after acme/late)",
        "      It is there.",
        "      proposed no change",
        "  acme/wrong: failed: diagnose raised KeyError: 'x'",
        "  acme/told: declined: it is a loop variable",
        "  declined without a reason: 1 others",
        "",
        "Rules for failure 2: 0 of 0 blame an operand",
    ]
