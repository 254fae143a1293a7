"""Each point of a verdict by itself: which runs are asked for, what is made of each, and in which words it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from check_cases import DIAGNOSIS, FIX, THREE, Asked, asked, plainly
from verifier_cases import CPU, FIRST, HOME, SOURCE, TWO, failure, patch, told

from devfix.model import OperatorCount, OperatorTotals, Outcome, Run, World

LINE = b"a = make()\nb = other()\nuse(a.to(d))\nuse(b)\n"


def verdict(given: Asked, after: bytes = FIX) -> tuple[str, str]:
    kept, rejected = given.verifier.select_best([patch(after)], [DIAGNOSIS])
    found = kept or rejected[0]
    assert (kept is None) is (found.verdict.outcome not in ("verified", "progressed"))
    return found.verdict.outcome, found.verdict.reason


def test_which_runs_are_asked_for() -> None:
    given = asked()
    assert verdict(given) == ("verified", "") and given.verifier.is_flaky is False and given.verifier.flaky == []
    edited, place = (("m.py", 1, 1),), (("m.py", 3, 3),)
    assert given.calls[0] == (HOME, False, False, place)
    assert sorted(given.calls[1:], key=repr) == sorted(
        [
            (HOME, False, True, edited),
            (CPU, False, False, edited),
            (TWO, False, False, ()),
            (THREE, False, False, ()),
            (HOME, True, False, ()),
        ],
        key=repr,
    )


def test_one_that_fails_is_run_nowhere_else() -> None:
    given = asked(lambda world: told(world, FIRST))
    kept, (rejected,) = given.verifier.select_best([patch(FIX)], [DIAGNOSIS])
    assert kept is None and len(given.calls) == 1
    assert (rejected.verdict.worlds, rejected.verdict.next_failure) == ({HOME.name: "failed"}, FIRST)


def test_copies_are_told_of_one_that_was_dropped_too() -> None:
    given = asked(lambda world: told(world, FIRST, copies=5), transfers=told(HOME, copies=3).transfers)
    _, (rejected,) = given.verifier.select_best([patch(FIX)], [DIAGNOSIS])
    assert (rejected.verdict.transfers_before, rejected.verdict.transfers_after) == (3, 5)


FAILED_HERE = {"operator_counts": (OperatorCount("aten::add", 0, 1),)}
OTHER_WORK = (OperatorCount("aten::mul", 4, 0),)
HIDES = "it hides the failure: aten::add does not run any more where it failed"


def test_what_hides_is_broken_whether_it_ends_well_or_fails_later() -> None:
    for later in (None, failure(4, 2, 11)):

        def fixed(world: World, later: Any = later) -> Run:
            return replace(told(world, later if world == HOME else None), operator_counts=OTHER_WORK)

        assert verdict(asked(fixed, **FAILED_HERE), LINE) == ("broken", HIDES)
        assert verdict(asked(fixed, **FAILED_HERE))[0] in ("verified", "progressed"), "the line is as it was, and works"


def test_what_is_caught_is_known_by_the_tensor() -> None:
    caught = "it hides the failure: it is raised as before, and caught"
    given = asked(lambda world: replace(told(world), handled=(failure(4, 1, 11),)))
    assert verdict(given) == ("broken", caught)
    assert verdict(asked(lambda world: replace(told(world), handled=(failure(4, 2, 11),)))) == ("verified", "")
    for born, outcome in ((1, "broken"), (2, "progressed")):

        def fails(world: World, born: int = born) -> Run:
            return replace(told(world, failure(4, 2, 11) if world == HOME else None), handled=(failure(4, born, 11),))

        assert verdict(asked(fails))[0] == outcome


def test_what_takes_the_work_off_the_gpu_is_broken_whether_it_ends_well_or_fails_later() -> None:
    for later in (None, failure(4, 2, 11)):

        def fixed(world: World, later: Any = later) -> Run:
            return replace(
                told(world, later if world == HOME else None), operator_counts=(OperatorCount("aten::add", 1, 0),)
            )

        said = "it takes the work off the GPU: aten::add runs on the CPU where it failed"
        assert verdict(asked(fixed)) == ("broken", said)


def test_without_a_failure_or_operands_nothing_is_blamed() -> None:
    for before in (told(HOME), told(HOME, replace(FIRST, operands=()))):
        given = Asked(plainly, told, before)
        assert given.verifier.run_on_failing_world(patch(FIX), DIAGNOSIS).verdict.outcome == "verified"


def only(where: World, there: Run) -> Callable[[World], Run]:
    return lambda world: there if world == where else told(world)


def test_what_edited_lines_do_on_the_gpu_alone() -> None:
    new = b"new\n" + SOURCE
    apart = only(HOME, replace(told(HOME), operator_counts=(OperatorCount("aten::mul", 1, 0, device=1),)))
    said = "its lines compute on the GPU what they do not without one: aten::mul"
    assert verdict(asked(apart), new) == ("behaviour-changed", said)
    both = asked(lambda world: replace(told(world), operator_counts=(OperatorCount("aten::mul", 1, 0, device=1),)))
    assert verdict(both, new) == ("verified", "")
    one = asked(lambda world: both.fixed(world) if world in (HOME, CPU) else told(world))
    assert verdict(one, new) == ("verified", ""), "it is asked of the world without a GPU alone"


ADD = OperatorTotals("aten::add", 3, 0, 10.0, 12.0)


def test_what_is_computed_without_a_gpu() -> None:
    def fixed(world: World) -> Run:
        return replace(told(world), operator_totals=(replace(ADD, host=2),))

    def plain(world: World) -> Run:
        return replace(plainly(world), operator_totals=(ADD,))

    given = asked(fixed, plain)
    said = "the program computes something else in the world cpu: aten::add runs 2 times, before 3 times"
    assert verdict(given) == ("behaviour-changed", said)
    assert given.calls.count((CPU, True, False, ())) == 2 and given.verifier.flaky == []
    same = asked(lambda world: replace(told(world), operator_totals=(ADD,)), plain)
    assert verdict(same) == ("verified", "") and (CPU, True, False, ()) not in same.calls


def test_what_only_seemed_to_repeat() -> None:
    totals = iter([10.0, 10.0, 3.0, 10.0])

    def plain(world: World) -> Run:
        return (
            replace(told(CPU), operator_totals=(replace(ADD, total=next(totals)),)) if world == CPU else plainly(world)
        )

    given = asked(lambda world: replace(told(world), operator_totals=(replace(ADD, total=7.0),)), plain)
    assert verdict(given) == ("verified", ""), "two runs of it were equal by chance"


def test_what_nothing_is_seen_of() -> None:
    def plain(torch: str) -> Callable[[World], Run]:
        return lambda world: replace(plainly(world), torch=torch)

    said = "nothing is seen of the program any more in the world cpu"
    assert verdict(asked(told, plain("2.6"))) == ("behaviour-changed", said)
    assert verdict(asked(lambda world: replace(told(world), torch="2.6"), plain("2.6"))) == ("verified", "")
    assert verdict(asked(told, plain(""))) == ("verified", "")
    fails_without = only(CPU, replace(told(CPU, failure(1, 2, 1)), torch="2.6"))
    given = asked(told, lambda world: fails_without(world) if world != HOME else plainly(world))
    assert verdict(given) == ("verified", ""), "what failed there before has nothing to compare"


def test_what_changes_from_run_to_run() -> None:
    count = iter(range(99))
    given = asked(
        lambda world: told(world, stdout=f"a{next(count)}\n"),
        lambda world: plainly(world) if world == HOME else told(world, stdout=f"b{next(count)}\n"),
    )
    assert verdict(given) == ("verified", "")
    said = "what the program prints in the world cpu changes from run to run: only the lines that repeat are compared"
    assert given.verifier.flaky == [said]
    assert given.calls.count((CPU, True, False, ())) == 2 and given.calls.count((CPU, False, False, ())) == 1


def test_all_worlds_are_told_and_the_first_that_speaks_against_it_gives_the_reason() -> None:
    def failing(*worlds: World) -> Callable[[World], Run]:
        return lambda world: told(world, failure(1, 2, 3) if world in worlds else None)

    for worlds in ((CPU, TWO), (TWO, THREE)):
        kept, (rejected,) = asked(failing(*worlds)).verifier.select_best([patch(FIX)], [DIAGNOSIS])
        assert kept is None and rejected.verdict.reason.startswith(f"{worlds[0].name} ran before, now it failed")
        assert list(rejected.verdict.worlds) == [HOME.name, CPU.name, TWO.name, THREE.name]
        assert [name for name, said in rejected.verdict.worlds.items() if said == "failed"] == [
            each.name for each in worlds
        ]
    differs = asked(lambda world: told(world, failure(1, 2, 3) if world == TWO else None, stdout="2\n"))
    assert verdict(differs) == ("behaviour-changed", "the program prints something else in the world cpu")
    later = iter([None, Outcome.OTHER])

    def once(world: World) -> Run:
        return replace(told(world), outcome=next(later) or Outcome.CLEAN) if world == HOME else told(world, FIRST)

    assert verdict(asked(once)) == ("broken", "it does not repeat: failed otherwise in a fresh process")


def test_what_is_told_of_a_flaky_failure() -> None:
    given = asked(told, told)
    assert verdict(given) == ("broken", "the failure is flaky: without the patch the program ran clean as well")
    assert given.verifier.is_flaky is True
    said = "the failure is flaky: a later run of the same program was clean; it is skipped"
    assert given.verifier.flaky == [said]


def test_where_one_that_moves_on_was_before() -> None:
    given = asked(lambda world: told(world, failure(4, 2, 11) if world == HOME else None))
    kept, _ = given.verifier.select_best([patch(FIX)], [DIAGNOSIS])
    assert kept is not None and kept.verdict.before == {HOME.name: "failed", CPU.name: "clean"}


def test_one_that_was_passed_over_is_confirmed() -> None:
    given = asked()
    candidate = given.verifier.confirm(given.verifier.run_on_failing_world(patch(FIX), DIAGNOSIS))
    assert candidate.verdict.outcome == "verified" and len(candidate.verdict.worlds) == 4
