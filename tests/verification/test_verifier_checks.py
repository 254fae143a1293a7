"""Each check of a verdict on its own: the runs that it requests, its decision, and its message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from check_cases import DIAGNOSIS, FIX, THREE, Asked, make_check, plainly, verdict
from verifier_cases import CPU, FIRST, HOME, SOURCE, TWO, failure, make_run, patch

from devfix.model import OperatorCount, OperatorTotals, Outcome, Run, World

LINE = b"a = make()\nb = other()\nuse(a.to(d))\nuse(b)\n"


def test_which_runs_are_asked_for() -> None:
    given = make_check()
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


def test_with_one_job_the_program_runs_once_more_without_the_patch_too() -> None:
    given = make_check()
    given.verifier.jobs = 1
    assert verdict(given) == ("verified", "")
    assert [call for call in given.calls if call[1]] == [(HOME, True, False, ())]


def test_one_that_fails_is_run_nowhere_else() -> None:
    given = make_check(lambda world: make_run(world, FIRST))
    kept, (rejected,) = given.verifier.select_best([patch(FIX)], [DIAGNOSIS])
    assert kept is None
    assert [world for world, is_plain, *_ in given.calls if not is_plain] == [HOME]
    assert [world for world, is_plain, *_ in given.calls if is_plain] == [HOME], "is the failure flaky?"
    assert (rejected.verdict.worlds, rejected.verdict.next_failure) == ({HOME.name: "failed"}, FIRST)


def test_copies_are_told_of_one_that_was_dropped_too() -> None:
    given = make_check(lambda world: make_run(world, FIRST, copies=5), transfers=make_run(HOME, copies=3).transfers)
    _, (rejected,) = given.verifier.select_best([patch(FIX)], [DIAGNOSIS])
    assert (rejected.verdict.transfers_before, rejected.verdict.transfers_after) == (3, 5)


FAILED_HERE = {"operator_counts": (OperatorCount("aten::add", 0, 1),)}
OTHER_WORK = (OperatorCount("aten::mul", 4, 0),)
HIDES = "it hides the failure: aten::add does not run any more where it failed"


def test_what_hides_is_broken_whether_it_ends_well_or_fails_later() -> None:
    for later in (None, failure(4, 2, 11)):

        def fixed(world: World, later: Any = later) -> Run:
            return replace(make_run(world, later if world == HOME else None), operator_counts=OTHER_WORK)

        assert verdict(make_check(fixed, **FAILED_HERE), LINE) == ("broken", HIDES)
        assert verdict(make_check(fixed, **FAILED_HERE))[0] in ("verified", "progressed"), (
            "the line is as it was, and works"
        )


def test_what_is_caught_is_known_by_the_tensor() -> None:
    caught = "it hides the failure: it is raised as before, and caught"
    given = make_check(lambda world: replace(make_run(world), handled=(failure(4, 1, 11),)))
    assert verdict(given) == ("broken", caught)
    assert verdict(make_check(lambda world: replace(make_run(world), handled=(failure(4, 2, 11),)))) == ("verified", "")
    for created, outcome in ((1, "broken"), (2, "progressed")):

        def fails(world: World, created: int = created) -> Run:
            return replace(
                make_run(world, failure(4, 2, 11) if world == HOME else None), handled=(failure(4, created, 11),)
            )

        assert verdict(make_check(fails))[0] == outcome


def test_what_takes_the_work_off_the_gpu_is_broken_whether_it_ends_well_or_fails_later() -> None:
    for later in (None, failure(4, 2, 11)):

        def fixed(world: World, later: Any = later) -> Run:
            return replace(
                make_run(world, later if world == HOME else None), operator_counts=(OperatorCount("aten::add", 1, 0),)
            )

        said = "it takes the work off the GPU: aten::add runs on the CPU where it failed"
        assert verdict(make_check(fixed)) == ("broken", said)


def test_what_ran_on_the_host_before_the_failure_too_is_the_programs() -> None:
    """A program that checks itself on the host first runs the failing line there, with a fix and without."""
    count = (OperatorCount("aten::add", 2, 0),)

    def fixed(world: World) -> Run:
        return replace(make_run(world, failure(4, 2, 11) if world == HOME else None), operator_counts=count)

    given = Asked(plainly, fixed, replace(make_run(HOME, FIRST), operator_counts=count))
    assert given.verifier.run_on_failing_world(patch(FIX), DIAGNOSIS).verdict.outcome == "progressed"


def test_without_a_failure_or_operands_nothing_is_blamed() -> None:
    for before in (make_run(HOME), make_run(HOME, replace(FIRST, operands=()))):
        given = Asked(plainly, make_run, before)
        assert given.verifier.run_on_failing_world(patch(FIX), DIAGNOSIS).verdict.outcome == "verified"


def only(where: World, there: Run) -> Callable[[World], Run]:
    return lambda world: there if world == where else make_run(world)


def test_what_edited_lines_do_on_the_gpu_alone() -> None:
    new = b"new\n" + SOURCE
    apart = only(HOME, replace(make_run(HOME), operator_counts=(OperatorCount("aten::mul", 1, 0, device=1),)))
    said = "its lines compute on the GPU what they do not without one: aten::mul"
    assert verdict(make_check(apart), new) == ("behaviour-changed", said)
    both = make_check(
        lambda world: replace(make_run(world), operator_counts=(OperatorCount("aten::mul", 1, 0, device=1),))
    )
    assert verdict(both, new) == ("verified", "")
    one = make_check(lambda world: both.fixed(world) if world in (HOME, CPU) else make_run(world))
    assert verdict(one, new) == ("verified", ""), "only the world without a GPU is checked"


def test_a_summary_of_the_model_may_tell_of_a_module_that_a_patch_registers() -> None:
    def fixed(world: World) -> Run:
        return make_run(world, stdout="| layers | 8 |\n| metrics | 0 |\n| 2 modules |\n")

    def plain(world: World) -> Run:
        return replace(plainly(world), stdout="| layers | 8 |\n| 1 modules |\n")

    for name, outcome in (("metrics", "verified"), ("others", "behaviour-changed")):
        after = SOURCE + f"self.{name} = torch.nn.ModuleList([])\n".encode()
        assert verdict(make_check(fixed, plain), after)[0] == outcome


ADD = OperatorTotals("aten::add", 3, 0, 10.0, 12.0)


def test_what_is_computed_without_a_gpu() -> None:
    def fixed(world: World) -> Run:
        return replace(make_run(world), operator_totals=(replace(ADD, host=2),))

    def plain(world: World) -> Run:
        return replace(plainly(world), operator_totals=(ADD,))

    given = make_check(fixed, plain)
    said = "the program computes something else in the world cpu: aten::add runs 2 times, before 3 times"
    assert verdict(given) == ("behaviour-changed", said)
    assert given.calls.count((CPU, True, False, ())) == 2 and given.verifier.flaky == []
    same = make_check(lambda world: replace(make_run(world), operator_totals=(ADD,)), plain)
    assert verdict(same) == ("verified", "") and (CPU, True, False, ()) not in same.calls


def test_what_only_seemed_to_repeat() -> None:
    totals = iter([10.0, 10.0, 3.0, 10.0])

    def plain(world: World) -> Run:
        return (
            replace(make_run(CPU), operator_totals=(replace(ADD, total=next(totals)),))
            if world == CPU
            else plainly(world)
        )

    given = make_check(lambda world: replace(make_run(world), operator_totals=(replace(ADD, total=7.0),)), plain)
    assert verdict(given) == ("verified", ""), "two runs of it were equal by chance"


def test_what_nothing_is_seen_of() -> None:
    def plain(torch: str) -> Callable[[World], Run]:
        return lambda world: replace(plainly(world), torch=torch)

    said = "nothing is seen of the program any more in the world cpu"
    assert verdict(make_check(make_run, plain("2.6"))) == ("behaviour-changed", said)
    assert verdict(make_check(lambda world: replace(make_run(world), torch="2.6"), plain("2.6"))) == ("verified", "")
    assert verdict(make_check(make_run, plain(""))) == ("verified", "")
    fails_without = only(CPU, replace(make_run(CPU, failure(1, 2, 1)), torch="2.6"))
    given = make_check(make_run, lambda world: fails_without(world) if world != HOME else plainly(world))
    assert verdict(given) == ("verified", ""), "what failed there before has nothing to compare"


def test_what_changes_from_run_to_run() -> None:
    count = iter(range(99))
    given = make_check(
        lambda world: make_run(world, stdout=f"a{next(count)}\n"),
        lambda world: plainly(world) if world == HOME else make_run(world, stdout=f"b{next(count)}\n"),
    )
    assert verdict(given) == ("verified", "")
    said = "what the program prints in the world cpu changes from run to run: only the lines that repeat are compared"
    assert given.verifier.flaky == [said]
    assert given.calls.count((CPU, True, False, ())) == 2 and given.calls.count((CPU, False, False, ())) == 1


def test_all_worlds_are_told_and_the_first_that_speaks_against_it_gives_the_reason() -> None:
    def failing(*worlds: World) -> Callable[[World], Run]:
        return lambda world: make_run(world, failure(1, 2, 3) if world in worlds else None)

    for worlds in ((CPU, TWO), (TWO, THREE)):
        kept, (rejected,) = make_check(failing(*worlds)).verifier.select_best([patch(FIX)], [DIAGNOSIS])
        assert kept is None and rejected.verdict.reason.startswith(f"{worlds[0].name} ran before, now it failed")
        assert list(rejected.verdict.worlds) == [HOME.name, CPU.name, TWO.name, THREE.name]
        assert [name for name, said in rejected.verdict.worlds.items() if said == "failed"] == [
            each.name for each in worlds
        ]
    differs = make_check(lambda world: make_run(world, failure(1, 2, 3) if world == TWO else None, stdout="2\n"))
    assert verdict(differs) == ("behaviour-changed", "the program prints something else in the world cpu")
    later = iter([None, Outcome.OTHER])

    def once(world: World) -> Run:
        return (
            replace(make_run(world), outcome=next(later) or Outcome.CLEAN) if world == HOME else make_run(world, FIRST)
        )

    assert verdict(make_check(once)) == ("broken", "it does not repeat: failed otherwise in a fresh process")


def test_what_is_told_of_a_flaky_failure() -> None:
    given = make_check(make_run, make_run)
    assert verdict(given) == ("broken", "the failure is flaky: without the patch the program ran clean as well")
    assert given.verifier.is_flaky is True
    said = "the failure is flaky: a later run of the same program was clean; it is skipped"
    assert given.verifier.flaky == [said]


def test_where_one_that_moves_on_was_before() -> None:
    given = make_check(lambda world: make_run(world, failure(4, 2, 11) if world == HOME else None))
    kept, _ = given.verifier.select_best([patch(FIX)], [DIAGNOSIS])
    assert kept is not None and kept.verdict.before == {HOME.name: "failed", CPU.name: "clean"}


def test_one_that_was_passed_over_is_confirmed() -> None:
    given = make_check()
    candidate = given.verifier.confirm(given.verifier.run_on_failing_world(patch(FIX), DIAGNOSIS))
    assert candidate.verdict.outcome == "verified" and len(candidate.verdict.worlds) == 4
