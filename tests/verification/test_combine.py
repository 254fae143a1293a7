"""Fixes with one cause become one: the parts of a batch, fixed one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from devfix.model import (
    Diagnosis,
    Edit,
    Event,
    Failure,
    Finding,
    Fix,
    Frame,
    NameRef,
    Operand,
    Patch,
    Repair,
    Safety,
    SourceLocation,
    Verdict,
)
from devfix.pipeline.searching.combine import combine_fixes

LINES = [b"batch = make()\n", b"a = f(x)\n", b"b = f(y)\n", b"c = f(z)\n"]
RULE = "placement/input-not-moved"


def content(fixed: int) -> bytes:
    return b"".join(
        line.replace(b")", b".to(d))") if 0 < number <= fixed else line for number, line in enumerate(LINES)
    )


def repair(number: int, name: str, rule: str = RULE, source: int = 1, path: str = "main.py") -> Repair:
    """The repair of the `number`th part of what line `source` of main.py gave out."""
    made = SourceLocation("lib.py", 3, "make", owned=True)
    events = (Event("factory", "aten::ones", "cpu", (made, SourceLocation("main.py", source, "f", owned=True))),)
    operand = Operand("input", "cpu", names=(NameRef(0, name),), history=events)
    frames = (Frame(SourceLocation("main.py", number + 1, "f", owned=True)),)
    failure = Failure("device-mismatch", "RuntimeError", "…", "aten::mm", frames, (operand,))
    edit = Edit(path, number + 1, content(number - 1), content(number))
    patch = Patch(
        rule, f"Move `{name}` to `d`", f"`{name}` is on cpu.", Safety.SAFE if number == 1 else Safety.UNSURE, (edit,)
    )
    verdict = Verdict(
        "progressed" if number < 3 else "verified", {"cuda x1": "failed" if number < 3 else "clean"}, number, 9
    )
    fix = Fix(patch, verdict, "diff")
    return Repair(failure, (Diagnosis(rule, "…", failure, Finding(0, "…")),), fix)


def diff(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    return f"{before} {after}"


def test_the_parts_of_a_batch_have_one_fix() -> None:
    parts = [repair(1, "x"), repair(2, "y"), repair(3, "z")]
    (whole,) = combine_fixes(parts, diff)
    assert whole.fix is not None and whole.failure is parts[0].failure
    (edit,) = whole.fix.patch.edits
    assert (edit.before, edit.after, edit.line) == (content(0), content(3), 2)
    assert whole.fix.patch.title == "Move `x`, `y` and `z` to `d`"
    assert whole.fix.patch.reason.startswith("`x` is on cpu. `y` came with it, and failed next at main.py:3.")
    assert whole.fix.patch.safety == "unsure"
    assert whole.fix.verdict.outcome == "verified" and whole.fix.verdict.worlds == {"cuda x1": "clean"}
    assert whole.fix.verdict.transfers_before == 1


def test_tensors_of_different_calls_have_fixes_of_their_own() -> None:
    assert len(combine_fixes([repair(1, "x"), repair(2, "y", source=7)], diff)) == 2


def test_what_one_function_made_has_one_fix_whichever_rules_fix_its_parts() -> None:
    (whole,) = combine_fixes([repair(1, "x"), repair(2, "y", rule="placement/half-moved-expression")], diff)
    assert whole.fix is not None and whole.fix.patch.rule == RULE


def test_what_a_constructor_made_stays_apart_where_other_rules_fix_it() -> None:
    def in_constructor(part: Repair) -> Repair:
        (operand,) = part.failure.operands
        (event,) = operand.history
        made = replace(event.places[0], function="Model.__init__")
        operand = replace(operand, history=(replace(event, places=(made, *event.places[1:])),))
        return replace(part, failure=replace(part.failure, operands=(operand,)))

    parts = [repair(1, "x"), repair(2, "y", rule="state/stale-cache")]
    assert len(combine_fixes([in_constructor(each) for each in parts], diff)) == 2


def test_fixes_of_other_files_stay_apart() -> None:
    assert len(combine_fixes([repair(1, "x"), repair(2, "y", path="other.py")], diff)) == 2


def test_a_call_that_still_runs_gave_nothing_out() -> None:
    running = SourceLocation("main.py", 1, "f", owned=True)
    parts = [repair(1, "x"), repair(2, "y")]
    parts = [
        replace(each, failure=replace(each.failure, frames=(Frame(running), *each.failure.frames))) for each in parts
    ]
    assert len(combine_fixes(parts, diff)) == 2


def test_a_failure_without_a_fix_stays() -> None:
    left = replace(repair(2, "y"), fix=None)
    assert combine_fixes([repair(1, "x"), left], diff)[1] is left
