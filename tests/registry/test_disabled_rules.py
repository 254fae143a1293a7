"""A rule that raises, hangs or yields nonsense is named and disabled, and so is what a comment forbids."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from waiting import HANGS, with_enough_time

from devfix import sdk
from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.model import Edit, Event, Failure, Finding, Frame, Operand, Safety, SourceLocation
from devfix.registry import Rule
from devfix.sdk import Change, Context, Sources

SOURCE = b"a = make()\nb = other()\nuse(a, b)\n"
AFTER = SOURCE.replace(b"use(a", b"use(a.to(d)")
CHANGE = Change("Move `a`", Safety.SAFE, (Edit("m.py", 3, SOURCE, AFTER),))
NOT_PYTHON = Change("Move `a`", Safety.SAFE, (Edit("m.py", 3, SOURCE, SOURCE + b"use(\n"),))


def failure() -> Failure:
    creation = Event("factory", "aten::zeros", "cpu", (SourceLocation("m.py", 1, "f", owned=True),))
    operands = (Operand("self", "cpu", history=(creation,)), Operand("other", "cuda:0"))
    return Failure(
        "device-mismatch",
        "RuntimeError",
        "",
        frames=(Frame(SourceLocation("m.py", 3, "f", owned=True)),),
        operands=operands,
    )


def blame(ctx: Context) -> Finding:
    return Finding(0, "It was never moved.")


def changes(ctx: Context) -> Iterator[Change]:
    yield CHANGE


def rule(name: str, diagnose: Callable[..., Any] = blame, propose: Callable[..., Any] = changes) -> Rule:
    methods = {"diagnose": staticmethod(diagnose), "propose": staticmethod(propose)}
    implementation = type("Given", (sdk.Rule,), methods)()
    return Rule(f"acme/{name}", name, "acme", Path(f"{name}.py"), implementation)


def propose_all(rules: list[Rule], data: bytes = SOURCE, seconds: float = HANGS) -> tuple[list[str], list[str]]:
    """The titles of all patches, and the notes."""
    source = Sources({"m.py": data}.get)
    diagnoses = diagnose(failure(), rules, source, seconds)
    patches = propose(diagnoses, {each.id: each for each in rules}, source, seconds)
    return [patch.rule for patch in patches], list(source.notes)


def propose_in_time(rules: list[Rule], seconds: float) -> tuple[list[str], list[str]]:
    """The same within a time that the last rule, which does nothing wrong, gets along with on this machine."""
    honest = rules[-1].id
    return with_enough_time(
        lambda each: propose_all(rules, seconds=each), lambda told: honest not in " ".join(told[1]), seconds
    )


def spin(*_: object) -> None:
    while True:
        time.sleep(0.001)


def raising(*_: object) -> None:
    raise KeyError("ids")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (raising, "diagnose raised KeyError: 'ids'"),
        (spin, "diagnose took longer than "),
        (lambda ctx: exit(3), "diagnose raised SystemExit: 3"),
        (lambda ctx: "operand 0", "diagnose returned 'operand 0', expected a Finding"),
        (
            lambda ctx: Finding(2, "out of range"),
            "Finding of operand 2, expected a Finding of this failure, which has 2",
        ),
        (lambda ctx: Finding(-1, "out of range"), "which has 2 operands, counted from 0"),
        (lambda ctx: ctx.view(7).operand, "raised IndexError: operand 7, of a failure with 2 operands, counted from 0"),
        (lambda ctx: sdk.expression("a b"), "raised ParserSyntaxError: Syntax Error @ 1:"),
        (lambda ctx: Finding(0, None), "expected a Finding of this failure"),  # type: ignore[arg-type]
        (lambda ctx: Finding(0, "x", "strong"), "expected a Finding of this failure"),  # type: ignore[arg-type]
        (lambda: None, "diagnose raised TypeError"),
    ],
)
def test_a_bad_diagnosis_is_named_and_the_others_go_on(given: Callable[..., Any], words: str) -> None:
    patches, notes = propose_in_time([rule("bad", diagnose=given), rule("good")], 0.3)
    assert patches == ["acme/good"]
    assert len(notes) == 1 and notes[0].startswith("rule acme/bad disabled: ") and words in notes[0]
    assert "\n" not in notes[0]


def generating(*given: object, then: Callable[[], None] = lambda: None) -> Callable[..., Iterator[object]]:
    def propose(ctx: Context) -> Iterator[object]:
        yield from given
        then()

    return propose


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (raising, "propose raised KeyError: 'ids'"),
        (generating(then=raising), "propose raised KeyError: 'ids'"),
        (generating(then=spin), "propose took longer than"),
        (lambda ctx: None, "propose raised TypeError"),
        (generating("a.to(b)"), "propose yielded str, expected a Change"),
        (generating(Change("", Safety.SAFE, CHANGE.edits)), "a Change whose title is ''"),
        (generating(Change("x", "surely", CHANGE.edits)), "whose safety is 'surely'"),
        (generating(Change("x", Safety.SAFE, ())), "a Change without edits"),
        (generating(Change("x", Safety.SAFE, ("m.py",))), "a Change without edits"),  # type: ignore[arg-type]
        (generating(Change("x", Safety.SAFE, CHANGE.edits * 2)), "two edits of one file"),
        (generating(NOT_PYTHON), "yielded an edit of 'm.py' that is not valid Python: '(' was never closed, in line "),
    ],
)
def test_a_bad_proposal_is_named_and_the_others_go_on(given: Callable[..., Any], words: str) -> None:
    patches, notes = propose_in_time([rule("bad", propose=given), rule("good")], 0.5)
    assert patches == ["acme/good"]
    assert len(notes) == 1 and notes[0].startswith("rule acme/bad disabled: propose ") and words in notes[0]


def test_what_was_yielded_before_a_rule_went_wrong_is_kept() -> None:
    patches, notes = propose_all([rule("bad", propose=generating(CHANGE, then=raising))])
    assert patches == ["acme/bad"] and len(notes) == 1


def test_a_rule_that_yields_without_end_is_stopped_and_equal_changes_are_tried_once() -> None:
    def many(ctx: Context) -> Iterator[Change]:
        number = 0
        while True:
            number += 1
            yield Change(f"{number}", Safety.SAFE, (Edit("m.py", 1, SOURCE, SOURCE + b"#" * (number // 2 + 1)),))

    patches, notes = propose_all([rule("many", propose=many), rule("good"), rule("twin")])
    assert patches.count("acme/many") == 9  # sixteen looked at, two by two the same but the first
    assert patches[0] == "acme/good" and "acme/twin" not in patches and not notes


@pytest.mark.parametrize(
    ("line", "where"),
    [(1, "the creation"), (3, "the failing line")],
)
def test_a_comment_keeps_a_rule_away(line: int, where: str) -> None:
    lines = SOURCE.split(b"\n")
    lines[line - 1] += b"  # devfix: ignore[acme/good] it is meant"
    data = b"\n".join(lines)
    there = generating(Change("There", Safety.SAFE, (Edit("m.py", 4, data, data + b"# moved\n"),)))
    patches, notes = propose_all([rule("good", propose=there), rule("other", propose=there)], data)
    assert patches == ["acme/other"], where
    assert notes == [f"m.py:{line}: rule acme/good is suppressed by a comment: it is meant"]


def test_a_comment_keeps_an_edit_away_that_touches_its_line() -> None:
    data = SOURCE.replace(b"b = other()", b"b = other()  # devfix: ignore[acme]")
    there = Change("There", Safety.SAFE, (Edit("m.py", 2, data, data.replace(b"other()", b"other(d)")),))
    elsewhere = Change("Elsewhere", Safety.SAFE, (Edit("m.py", 3, data, data.replace(b"use(a", b"use(a.to(d)")),))
    patches, notes = propose_all([rule("good", propose=generating(there, elsewhere))], data)
    assert patches == ["acme/good"]
    assert notes == ["m.py:2: rule acme/good is suppressed by a comment: (no reason given)"]
