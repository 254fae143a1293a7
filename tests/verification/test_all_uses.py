"""A change that fixes every use of a tensor, out of candidates that fix one use each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from devfix.model import (
    Edit,
    Event,
    Failure,
    Operand,
    Outcome,
    Patch,
    Run,
    Safety,
    SourceLocation,
    Verdict,
    World,
)
from devfix.pipeline.searching.all_uses import EVERYWHERE, extend_to_all_uses, with_later
from devfix.verification.candidate import CandidateResult

WORLD = World("simulated", 1)
USES = 3


def text(fixed: int) -> bytes:
    return b"".join(b"moved\n" if number < fixed else b"use\n" for number in range(USES))


def patch_of(before: int, after: int) -> Patch:
    edit = Edit("main.py", before + 1, text(before), text(after))
    return Patch("placement/input-not-moved", "Move `gn` to `box.device`", "…", Safety.SAFE, (edit,), (3, 0))


def attempt(patch: Patch) -> CandidateResult:
    """A program that uses a tensor three times: it fails at the first use that the patch leaves as it was."""
    after = patch.edits[0].after
    fixed = after.count(b"moved")
    failure = None if fixed == USES else Failure("device-mismatch", "RuntimeError", "…", operations=10 + fixed)
    outcome = "verified" if failure is None else "same-failure"
    reason = "" if failure is None else f"it only moves the crash to main.py:{fixed + 1}: same cause"
    verdict = Verdict(outcome, reason=reason, next_failure=failure)
    run = Run(WORLD, (), Outcome.CLEAN if failure is None else Outcome.FAILED, 0, 0.1, failure=failure)
    return CandidateResult(patch, {"main.py": after}, run, verdict)


def following(candidate: CandidateResult) -> Iterator[Patch]:
    fixed = candidate.files["main.py"].count(b"moved")
    yield patch_of(fixed, fixed + 1)


def test_every_use_is_fixed_by_one_change() -> None:
    found = next(extend_to_all_uses([attempt(patch_of(0, 1))], following, attempt), None)
    assert found is not None and found.verdict.outcome == "verified"
    (edit,) = found.patch.edits
    assert (edit.before, edit.after, edit.line) == (text(0), text(USES), 1)
    assert found.patch.title == f"Move `gn` to `box.device`{EVERYWHERE}"


def test_what_ends_where_it_began_is_not_carried_on() -> None:
    candidate = attempt(patch_of(0, 1))
    stuck = CandidateResult(
        candidate.patch, candidate.files, candidate.run, Verdict("same-failure", reason="the same failure comes again")
    )
    assert [*extend_to_all_uses([stuck], following, attempt)] == []


def test_a_use_without_a_candidate_ends_it() -> None:
    assert [*extend_to_all_uses([attempt(patch_of(0, 1))], lambda candidate: iter(()), attempt)] == []


def test_a_candidate_that_does_not_get_further_ends_it() -> None:
    asked = []

    def again(candidate: CandidateResult) -> Iterator[Patch]:
        asked.append(candidate)
        yield patch_of(1, 1)

    assert [*extend_to_all_uses([attempt(patch_of(0, 1))], again, attempt)] == []
    assert len(asked) == 1


def test_a_later_patch_of_another_file_is_an_edit_of_its_own() -> None:
    other = Patch("r", "t", "b", Safety.SAFE, (Edit("other.py", 4, b"x\n", b"y\n"),))
    edits = {edit.path: (edit.before, edit.after) for edit in with_later(patch_of(0, 1), other).edits}
    assert edits == {"main.py": (text(0), text(1)), "other.py": (b"x\n", b"y\n")}


def test_a_beginning_that_fixed_no_use_is_left_out() -> None:
    useless = Patch("r", "Move `net`", "b", Safety.SAFE, (Edit("other.py", 1, b"x\n", b"y\n"),), (3, 0))

    def alike(patch: Patch) -> CandidateResult:
        found = attempt(patch_of(USES, USES) if any(edit.path == "main.py" for edit in patch.edits) else patch_of(0, 0))
        return CandidateResult(patch, {}, found.run, found.verdict)

    found = next(extend_to_all_uses([alike(useless)], lambda candidate: iter([patch_of(USES - 1, USES)]), alike), None)
    assert found is not None and [edit.path for edit in found.patch.edits] == ["main.py"]
    assert not found.patch.title.endswith(EVERYWHERE)


def test_candidates_of_other_kinds_are_extended_before_those_like_the_first() -> None:
    begun = [replace(attempt(patch_of(0, 1)), patch=replace(patch_of(0, 1), title=f"{number}")) for number in range(3)]
    other = replace(begun[0], patch=replace(patch_of(0, 1), title="other", reason="another"))
    found = extend_to_all_uses([*begun, other], following, attempt)
    assert [each.patch.title.removesuffix(EVERYWHERE) for each in found] == ["0", "other", "1"]


def test_several_tensors_that_one_change_creates_elsewhere_for_some_calls() -> None:
    """The next failure involves a tensor that an edited line creates: for a call that does not pass the device yet."""
    joint = replace(attempt(patch_of(0, 2)), patch=replace(patch_of(0, 2), joint=True))
    assert [*extend_to_all_uses([joint], following, attempt)] == []
    failure = joint.verdict.next_failure
    assert failure is not None
    for line, expected in ((1, 1), (3, 0)):
        creation = Event("factory", "aten::zeros", "cpu", (SourceLocation("main.py", line, "f", True),))
        made = replace(failure, operands=(Operand("other", "cpu", history=(creation,)),))
        again = replace(joint, verdict=replace(joint.verdict, next_failure=made))
        assert len([*extend_to_all_uses([again], following, attempt)]) == expected
