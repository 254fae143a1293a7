"""What each rule decided about a failure, in the order of their precedence, with the reasons that they gave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mismatch_factory import main, meeting

from devfix import sdk
from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.model import Confidence, Finding, RuleDecision
from devfix.registry import Rule
from devfix.sdk import Change, Context, OperandRule, Sources, decline


def blaming(confidence: Confidence = Confidence.DIRECT) -> Callable[[Context], Finding]:
    return lambda ctx: Finding(0, "It was left.", confidence)


CODE = "x + mask\n"
FAILURE = meeting(CODE, "x + mask")[0].failure


def nothing(ctx: Context) -> Iterator[Change]:
    return iter(())


def rule(name: str, diagnose: Callable[..., Any], propose: Callable[..., Any] = nothing, **members: Any) -> Rule:
    methods = {"diagnose": staticmethod(diagnose), "propose": staticmethod(propose)}
    implementation = type("Given", (sdk.Rule,), {**methods, **members})()
    return Rule(f"acme/{name}", name, "acme", Path(f"{name}.py"), implementation)


def decided(*rules: Rule) -> list[RuleDecision]:
    decisions: list[RuleDecision] = []
    diagnose(FAILURE, rules, Sources(lambda path: None), decisions=decisions)
    return decisions


def test_rules_that_blame_come_first_each_with_why_it_comes_after_the_one_before() -> None:
    found = decided(
        rule("silent", lambda ctx: None),
        rule("second", blaming()),
        rule("first", blaming()),
        rule("weak", blaming(Confidence.GUESS), supersedes=("acme/zero",)),
        rule("zero", blaming(Confidence.GUESS)),
        rule("wrong", lambda ctx: 1 / 0),
        rule("other", lambda ctx: decline("it is a loop variable")),
    )
    assert [(each.rule.removeprefix("acme/"), each.answer, each.precedence) for each in found] == [
        ("first", "blamed", ""),
        ("second", "blamed", "after acme/first, whose evidence is as good"),
        ("weak", "blamed", "after acme/second, whose evidence is better"),
        ("zero", "blamed", "after acme/weak, which supersedes it"),
        ("other", "declined", ""),
        ("silent", "declined", ""),
        ("wrong", "failed", ""),
    ]
    assert [each.reason for each in found[4:6]] == ["it is a loop variable", ""]
    assert found[6].reason.startswith("diagnose raised ZeroDivisionError")


class Late(OperandRule):
    """Declines `mask`, which it examines first, and blames `x` if `options` is true."""

    message = "{name} was left."
    reports_intentional = True

    def matches(self, ctx: Context) -> bool:
        if ctx.name == "`mask`":
            decline(f"{ctx.name} is not it")
        return bool(self.options)

    def suspects(self, ctx: Context) -> Iterator[Context]:
        return (ctx.view(number) for number in (1, 0))

    def propose(self, ctx: Context) -> Iterator[Change]:
        return nothing(ctx)


def test_an_operand_that_a_rule_declines_leaves_the_others_to_it() -> None:
    late = Late()
    known = Rule("acme/late", "", "acme", Path("late.py"), late)
    assert decided(known) == [RuleDecision("acme/late", "declined", "`mask` is not it")]
    late.options = True
    assert decided(known) == [RuleDecision("acme/late", "blamed", "`x` was left.", Confidence.DIRECT)]


@pytest.mark.parametrize("count", [0, 1])
def test_a_rule_may_decline_to_propose(count: int) -> None:
    file = main("x = 1\n")
    change = sdk.Change("Do it", sdk.Safety.SAFE, (sdk.Edit(file.path, 1, file.data, b"x = 2\n"),))

    def proposing(ctx: Context) -> Iterator[Change]:
        yield from [change] * count
        decline("the rest is in a library")

    known = rule("only", blaming(), proposing)
    sources = Sources({file.path: file.data}.get)
    declined: dict[str, str] = {}
    diagnoses = diagnose(FAILURE, [known], sources)
    assert len(list(propose(diagnoses, {known.id: known}, sources, declined=declined))) == count
    assert declined == {"acme/only": "the rest is in a library"}
    assert list(sources.notes) == []
