"""What the printed lines of runs with a patch and without say of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from check_cases import DIAGNOSIS, FIX, make_check, verdict
from verifier_cases import CPU, FILES, FIRST, HOME, SOURCE, make_run, patch

from devfix.model import CountRequest, OperatorTotals, Outcome, Run, World
from devfix.verification.checks.stdout import (
    differing_numbers,
    gpu_only_lines,
    last_line,
    lost_results,
    stdout_differs,
    unseeded_note,
    without_devices,
)
from devfix.verification.verifier import Verifier

OBJECTION = ("the program prints something else on a GPU than without one",)


def test_the_last_word_is_short() -> None:
    long = "x" * 500
    for ended in (
        make_run(HOME, replace(FIRST, message=long)),
        replace(make_run(HOME), stderr=long),
        replace(make_run(HOME), signal="SIGKILL", internal_errors=(long,)),
    ):
        assert len(last_line(ended)) == 200


def test_lines_that_repeat_are_held_side_by_side() -> None:
    assert stdout_differs(["a\n1", "a\n2"], ["b\n1", "b\n2"])
    assert not stdout_differs(["a\n1", "a\n2"], ["a\n3", "a\n4"])
    assert not stdout_differs(["a\n1", "a\n1"], ["a\n2", "a\n3"]), "what changes with the patch in place is no evidence"
    assert not stdout_differs(["a", "a"], ["a\nb", "a\nb"])
    assert not stdout_differs(["1", "2"], ["3", "3"])


def test_a_candidate_with_which_a_gpu_prints_what_the_cpu_does_is_preferred() -> None:
    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        is_apart = files["m.py"][:1] == b"1" and world == HOME
        return make_run(
            world, FIRST if files["m.py"] == SOURCE and world == HOME else None, "left\n" if is_apart else "right\n"
        )

    verifier = Verifier(
        run,
        make_run(HOME, FIRST),
        FILES,
        [HOME, CPU],
        lambda world: run(world, FILES, False, CountRequest()),
        review=lambda *_: [],
    )
    kept, _ = verifier.select_best([patch(b"1" + FIX), patch(b"2" + FIX)], [DIAGNOSIS])
    assert kept is not None and kept.patch.edits[0].after[:1] == b"2" and not kept.verdict.objections
    kept, _ = verifier.select_best([patch(b"1" + FIX)], [DIAGNOSIS])
    assert kept is not None and kept.verdict.objections == OBJECTION


def test_what_is_printed_on_a_gpu_is_told_beside_what_was_known() -> None:
    def fixed(world: World) -> Run:
        return make_run(world, stdout="left\n" if world == HOME else "1\n")

    verifier = make_check(fixed).verifier
    candidate = verifier.run_on_failing_world(patch(FIX), DIAGNOSIS)
    known = replace(candidate, verdict=replace(candidate.verdict, objections=("why",)))
    assert verifier.confirm(known).verdict.objections == ("why", *OBJECTION)


def test_another_number_on_a_gpu_changes_the_behaviour() -> None:
    def fixed(world: World) -> Run:
        return make_run(world, stdout="loss 0.6\n" if world == CPU else "loss 3.9\n")

    given = make_check(fixed, lambda world: make_run(world, FIRST if world == HOME else None, "loss 0.6\n"), stdout="")
    assert verdict(given) == ("behaviour-changed", "on a GPU the program prints 3.9, and 0.6 without one")


@pytest.mark.parametrize(
    ("there", "here", "expected"),
    [
        ("loss 3.9", "loss 0.6", "3.9, and 0.6 without one"),
        ("loss 0.637", "loss 0.638", ""),
        ("loss 0.6 in 3 s", "loss 0.6 in 2 s", ""),
        ("2 GPUs", "0 GPUs", ""),
        ("loss nan", "loss 0.6", "nan, and 0.6 without one"),
        ("left 1", "right 2", ""),
        ("loss inf", "loss 0.6", "inf, and 0.6 without one"),
        ("loss inf", "loss inf", ""),
        ("loss nan", "loss nan", ""),
        ("loss 0.6", "loss nan", "0.6, and nan without one"),
        ("loss 100", "loss 99", ""),
        ("loss 99", "loss 100", ""),
        ("loss 100", "loss 98.9", "100, and 98.9 without one"),
        ("loss 1, 2, 3", "loss 1, 4, 5", "2, and 4 without one"),
        ("layers 1-3", "layers 1", ""),
        ("tensor([1., 2.], device='cuda:0')", "tensor([1., 1.])", "2., and 1. without one"),
    ],
)
def test_other_numbers_on_a_gpu_drop_a_patch(there: str, here: str, expected: str) -> None:
    runs = [make_run(HOME, stdout=f"batch 64\n{there}\n")] * 2
    assert (
        differing_numbers(make_run(HOME, FIRST, "batch 64\n"), runs, make_run(CPU, stdout=f"batch 32\n{here}\n"))
        == expected
    )


def test_numbers_that_are_drawn_on_a_gpu_say_nothing() -> None:
    drawn = replace(make_run(HOME, None, "loss 3.9\n"), operator_totals=(OperatorTotals("aten::dropout", 0, 3),))
    assert differing_numbers(make_run(HOME, FIRST, ""), [drawn, drawn], make_run(CPU, None, "loss 0.6\n")) == ""


def test_where_two_runs_on_a_gpu_print_different_lines_nothing_is_held_against_a_patch() -> None:
    runs = [make_run(HOME, stdout=f"{first}\nleft\n") for first in ("loss 3.9", "loss 3.8")]
    assert differing_numbers(make_run(HOME, FIRST, ""), runs, make_run(CPU, stdout="loss 0.6\nright\n")) == ""


def counted(world: World, host: int, device: int, loss: str) -> Run:
    """A run that printed a loss, in which the operator that failed ran so often on the host and on a GPU."""
    totals = (OperatorTotals("aten::mul", 5, 0 if world == CPU else 5), OperatorTotals("aten::add", host, device))
    return replace(make_run(world, stdout=f"loss {loss}\n"), operator_totals=totals)


@pytest.mark.parametrize(("host", "device", "expected"), [(1, 2, "3.9, and 0.6 without one"), (2, 2, ""), (5, 2, "")])
def test_numbers_are_compared_where_the_operator_runs_as_often(host: int, device: int, expected: str) -> None:
    first, fresh = counted(HOME, 7, 7, "3.9"), counted(HOME, host, device, "3.9")
    without = counted(CPU, 3, 0, "0.6")
    assert differing_numbers(make_run(HOME, FIRST, ""), [first, fresh], without) == expected
    assert differing_numbers(make_run(HOME, FIRST, ""), [fresh], without) == expected
    unknown = replace(make_run(HOME, stdout=""), outcome=Outcome.OTHER)
    assert differing_numbers(unknown, [first, fresh], without) == "3.9, and 0.6 without one"


def test_other_lines_on_a_gpu_are_told() -> None:
    failing, gpu, without = make_run(HOME, FIRST), make_run(HOME, stdout="left\n"), make_run(CPU, stdout="right\n")
    assert gpu_only_lines(failing, [gpu, gpu], without) == OBJECTION
    assert gpu_only_lines(failing, [gpu, gpu], replace(without, stdout="left\n")) == ()
    on_gpu = replace(gpu, stdout="on cuda:0: tensor([1.], device='cuda:0')\n")
    assert gpu_only_lines(failing, [on_gpu], replace(without, stdout="on cpu: tensor([1.])\n")) == ()


def test_other_lines_are_told_of_runs_that_can_be_compared_alone() -> None:
    failing, gpu, without = make_run(HOME, FIRST), make_run(HOME, stdout="left\n"), make_run(CPU, stdout="right\n")
    assert gpu_only_lines(replace(failing, world=World("real", 1)), [gpu], without) == ()
    for ended in (replace(gpu, ended="alive for 60 s"), replace(gpu, outcome=Outcome.OTHER)):
        assert gpu_only_lines(failing, [gpu, ended], without) == ()
    for ended in (replace(without, ended="alive for 60 s"), replace(without, outcome=Outcome.OTHER)):
        assert gpu_only_lines(failing, [gpu], ended) == ()


@pytest.mark.parametrize(
    ("op", "host", "device", "expected"),
    [("aten::normal_", 0, 1, ()), ("aten::normal_", 1, 0, OBJECTION), ("aten::add", 0, 1, OBJECTION)],
)
def test_other_lines_are_no_wonder_where_a_gpu_draws_numbers(
    op: str, host: int, device: int, expected: tuple[str, ...]
) -> None:
    drawn = replace(make_run(HOME, stdout="left\n"), operator_totals=(OperatorTotals(op, host, device),))
    plain, without = make_run(HOME, stdout="left\n"), make_run(CPU, stdout="right\n")
    assert gpu_only_lines(make_run(HOME, FIRST), [drawn, plain], without) == expected


def test_all_devices_have_one_name() -> None:
    assert without_devices("on cuda:1, MPS and a GPU") == "on device, device and a device"
    assert without_devices("tensor([1.], device='cuda:0', dtype=torch.half)") == "tensor([1.], dtype=torch.half)"


def test_how_a_program_without_a_seed_is_told() -> None:
    assert unseeded_note(["numpy", "torch"]) == (
        "the program draws random numbers without a seed (numpy, torch): its results were compared in runs that devfix "
        "seeded; to have them repeat, seed the program: numpy.random.seed(0), or numpy.random.default_rng(0); "
        "torch.manual_seed(0)"
    )


def both(there: str, here: str, **more: object) -> str:
    on, off = (replace(make_run(world, stdout=said), **more) for world, said in ((HOME, there), (CPU, here)))
    return lost_results([on, on], [off, off])


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("0 losses 0.0\n", "3 losses 2.5\n"),
        ("loss nan\n", "loss 2.5\n"),
        ("loss None\n", "loss 2.5\n"),
        ("start\nend\n", "start\nloss 2.5\nend\n"),
        ("", "loss 2.5\n"),
    ],
)
def test_results_that_a_gpu_loses_are_told(there: str, here: str) -> None:
    assert "on a GPU the program" in both(there, here)


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("loss 2.501 on cuda:0\n", "loss 2.5 on cpu\n"),
        ("slow way\nloss 2.5\n", "loss 2.5\n"),
        ("slow way\n", "loss 2.5\nend\n"),
        ("the slow way: 2.5\n", "the fast way: 2.5\n"),
        ("failed with <class 'RuntimeError'>\n", "failed with <class 'NoneType'>\n"),
        ("on an H200\n", "on the host\n"),
        ("took 3.5 s, 1 GPUs\n", "took 0.5 s, 0 GPUs\n"),
        ("end\n", "no GPU\nend\n"),
    ],
)
def test_a_fallback_and_what_depends_on_the_machine_are_no_lost_results(there: str, here: str) -> None:
    assert both(there, here) == ""


def test_results_that_vary_or_are_drawn_are_not_compared() -> None:
    there, here = "0 losses 0.0\n", "3 losses 2.5\n"
    assert both(there, here, unseeded=("torch",)) == ""
    assert both(there, here, operator_totals=(OperatorTotals("aten::rand", 0, 1),)) == ""
    assert both(there, here, outcome=Outcome.OTHER) == ""
    on, off, other = make_run(HOME, stdout=there), make_run(CPU, stdout=here), make_run(CPU, stdout="4 losses 2.6\n")
    assert lost_results([on], [off]) and lost_results([on, on], [off, other]) == ""
    assert lost_results([replace(on, world=World("real", 1))], [off]) == ""
