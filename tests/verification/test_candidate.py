"""How a candidate stands beside another that holds."""

from __future__ import annotations

from dataclasses import replace

from verifier_cases import CPU, FIRST, HOME, SOURCE, failure, make_run, patch

from devfix.model import Edit, Event, Failure, Operand, Patch, Run, Safety, SourceLocation, Transfer, Verdict
from devfix.verification.candidate import (
    CandidateResult,
    copies_in_loop,
    diversify,
    is_not_better_than,
    is_settled,
    is_stronger,
    mark_superseded,
    moves_both_ways,
    order_by_copies,
    reject,
    where,
)


def candidate(
    outcome: str = "verified", copies: int = 1, worlds_still_failing: int = 0, rank: tuple[int, ...] = (1, 0)
) -> CandidateResult:
    given = replace(patch(b"new\n" + SOURCE), rank=rank)
    return CandidateResult(given, {}, make_run(HOME, copies=copies), Verdict(outcome), worlds_still_failing)


def test_fewer_copies_are_better_where_the_evidence_is_as_good() -> None:
    assert is_not_better_than(candidate(copies=3), candidate(copies=3)) and is_not_better_than(
        candidate(copies=4), candidate(copies=3)
    )
    assert not is_not_better_than(candidate(copies=2), candidate(copies=3))
    assert is_not_better_than(candidate(copies=2, rank=(2, 0)), candidate(copies=3, rank=(1, 5)))
    assert not is_not_better_than(candidate(copies=2, rank=(1, 9)), candidate(copies=3, rank=(1, 5)))


def test_better_evidence_counts_for_nothing_where_the_devices_are_only_exchanged() -> None:
    before = failure(3, 1, 10)
    turned = replace(
        before,
        operands=tuple(replace(each, device={"cpu": "cuda:0"}.get(each.device, "cpu")) for each in before.operands),
    )
    held, strong = candidate(rank=(2, 0)), candidate("progressed", rank=(1, 0))
    assert is_stronger(strong, held, before) and not is_stronger(held, strong, before)
    again = replace(strong, run=replace(strong.run, failure=turned), patch=replace(strong.patch, edits=()))
    assert not is_stronger(again, held, before)


def test_better_evidence_counts_for_nothing_where_the_same_expression_fails_as_before() -> None:
    before = failure(3, 1, 10)
    held, strong = candidate(rank=(2, 0)), candidate("progressed", rank=(1, 0))
    again = replace(strong, run=replace(strong.run, failure=before), patch=replace(strong.patch, edits=()))
    assert not is_stronger(again, held, before)
    elsewhere = replace(again, run=replace(strong.run, failure=failure(4, 1, 10)))
    assert is_stronger(elsewhere, held, before)


def test_an_unsure_change_is_not_better_than_a_safe_one_for_fewer_copies() -> None:
    kept = candidate(copies=3)
    for safety, is_worse in ((Safety.SAFE, False), (Safety.LIKELY, False), (Safety.UNSURE, True)):
        other = replace(candidate(copies=1), patch=replace(kept.patch, safety=safety))
        assert is_not_better_than(other, replace(kept, patch=replace(kept.patch, safety=Safety.SAFE))) is is_worse
        unsure = replace(kept, patch=replace(kept.patch, safety=Safety.UNSURE))
        assert not is_not_better_than(other, unsure)


def test_worlds_come_before_copies() -> None:
    assert not is_not_better_than(candidate(copies=9, rank=(9, 9)), candidate(worlds_still_failing=1))
    assert is_not_better_than(candidate(copies=0, worlds_still_failing=1), candidate(copies=9))
    assert is_not_better_than(candidate(copies=0, worlds_still_failing=1), candidate(copies=9, worlds_still_failing=1))
    assert not is_not_better_than(candidate(copies=9, worlds_still_failing=1), candidate(worlds_still_failing=2))


def test_objections_come_before_copies_once_they_were_collected() -> None:
    plain, fewer = candidate(copies=3), candidate(copies=1)
    doubted = replace(plain, verdict=replace(plain.verdict, objections=("why",)), is_reviewed=True)
    reviewed = replace(fewer, is_reviewed=True)
    also_doubted = replace(reviewed, verdict=doubted.verdict)
    assert not is_not_better_than(candidate(copies=9), doubted), "it may turn out that nothing speaks against it"
    assert not is_not_better_than(replace(reviewed, run=make_run(HOME, copies=9)), doubted)
    assert is_not_better_than(also_doubted, plain) and not is_not_better_than(also_doubted, doubted)
    assert is_not_better_than(doubted, also_doubted)
    assert not is_not_better_than(reviewed, plain) and is_not_better_than(replace(plain, is_reviewed=True), fewer)
    assert not is_not_better_than(replace(also_doubted, is_reviewed=False), plain), "they are not yet known"


def test_what_is_told_of_a_trial_beside_the_one_that_is_kept() -> None:
    held = mark_superseded(candidate()).verdict
    assert (held.outcome, held.reason) == (
        "superseded",
        "another verified candidate makes fewer copies, or runs in more worlds",
    )
    doubted = replace(candidate(), verdict=replace(candidate().verdict, objections=("a.py:3 loops over all buffers",)))
    assert mark_superseded(doubted).verdict.reason == "a.py:3 loops over all buffers"
    moved = candidate("progressed")
    assert mark_superseded(moved) is moved
    led = mark_superseded(replace(moved, verdict=replace(moved.verdict, next_failure=failure(4, 2, 10)))).verdict
    assert (led.outcome, led.reason) == (
        "same-failure",
        "it only moves the crash to m.py:4: same cause, the fix kept fixes both",
    )
    broken = candidate("broken")
    assert mark_superseded(broken) is broken
    assert reject(moved, "why").verdict == replace(moved.verdict, outcome="superseded", reason="why")


def copying(line: int, count: int) -> Run:
    return replace(
        make_run(CPU), transfers=(Transfer(SourceLocation("m.py", line, "f", owned=True), "to-device", count, 8),)
    )


def test_a_copy_in_a_loop_is_one_that_an_edited_line_makes_again() -> None:
    given = candidate()
    for line, count, loops in ((1, 2, True), (1, 1, False), (2, 2, False), (2, 1, False)):
        assert copies_in_loop(replace(given, run=copying(line, count))) is loops


def crossing(*directions: str) -> Run:
    place = SourceLocation("m.py", 1, "f", owned=True)
    return replace(make_run(HOME), transfers=tuple(Transfer(place, each, 1, 8) for each in directions))  # type: ignore[arg-type]


def test_what_takes_tensors_to_the_host_and_back_gives_way() -> None:
    stays, crosses = (
        replace(candidate(), run=crossing("to-device")),
        replace(candidate(), run=crossing("to-host", "to-device")),
    )
    assert moves_both_ways(crosses) and not moves_both_ways(stays)
    assert not is_not_better_than(stays, crosses) and is_not_better_than(crosses, stays)
    assert is_settled(stays) and not is_settled(crosses)


def test_a_failure_turned_round_is_no_progress_unless_what_is_left_was_created_there() -> None:
    def met(one: str, other: str, line: int) -> Failure:
        made = Event("factory", "aten::zeros", other, (SourceLocation("m.py", 1, "f", owned=True),))
        operands = Operand("self", one, "float32", ()), Operand("other", other, "float32", (), (), (made,))
        return replace(failure(line, 2, 10), operands=operands)

    before, after = met("cpu", "cuda:0", 3), met("cuda:0", "cpu", 4)  # below the line that the patch inserts
    further = replace(candidate("progressed", rank=(0, 0)), run=replace(make_run(HOME), failure=after))
    crosses = replace(candidate(), run=crossing("to-host", "to-device"))
    assert is_stronger(further, crosses, before) and not is_stronger(further, candidate(), before)
    unknown = replace(after, operands=tuple(replace(each, history=()) for each in after.operands))
    left = replace(further, run=replace(further.run, failure=unknown))
    assert not is_stronger(left, crosses, before), "nobody knows where it is created"


def test_where_a_failure_is() -> None:
    assert where(FIRST) == "m.py:3" and where(replace(FIRST, frames=())) == "an unknown place"


def test_other_lines_come_before_more_of_the_same() -> None:
    lines = [4, 4, 9, 4, 2, 9]
    edits = [Edit("m.py", line, b"", b"x") for line in lines]
    patches = [Patch("p/r", str(number), "", Safety.SAFE, (edit,)) for number, edit in enumerate(edits)]
    assert [patch.title for patch in diversify(patches)] == ["0", "2", "4", "1", "5", "3"]


def test_another_tensor_that_is_blamed_counts_as_another_line() -> None:
    blamed = ["mask", "mask", "total", "mask"]
    patches = [Patch("p/r", str(at), why, Safety.SAFE, (Edit("m.py", 4, b"", b"x"),)) for at, why in enumerate(blamed)]
    assert [patch.title for patch in diversify(patches)] == ["0", "2", "1", "3"]
    assert [patch.title for patch in diversify(patches[1:], patches[:1])] == ["2", "1", "3"]


def led_to(line: int, transfers: tuple[int, ...], rank: tuple[int, ...] = (1, 0)) -> CandidateResult:
    """Return a candidate that leads to a failure in a line, and copies so often in each line from the first."""
    copies = [replace(copying(i, count).transfers[0]) for i, count in enumerate(transfers, 1) if count]
    run = replace(make_run(HOME), failure=failure(line, 2, 10), transfers=tuple(copies))
    return replace(candidate("progressed", rank=rank), run=run)


def test_what_leads_to_the_same_failure_with_fewer_copies_comes_first() -> None:
    loops, once, fewer = led_to(9, (4,)), led_to(9, (0, 2)), led_to(9, (0, 1))
    assert order_by_copies([loops, once, fewer]) == [fewer, once, loops]
    assert order_by_copies([once, fewer]) == [once, fewer], "the first does not copy in a loop"
    others = [led_to(8, (0, 1)), led_to(9, (0, 1), rank=(2, 0)), led_to(9, (0, 5))]
    assert order_by_copies([loops, *others]) == [loops, *others]
