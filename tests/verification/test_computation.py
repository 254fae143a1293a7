"""What counts as computing something else, or elsewhere, than before."""

from __future__ import annotations

from dataclasses import replace

from verifier_cases import CPU, FIRST, HOME, failure, make_run

from devfix.model import Edit, Event, Operand, OperatorCount, OperatorTotals, Run
from devfix.verification.checks.computation import (
    diff_totals,
    edited_places,
    extra_gpu_work,
    left_gpu,
    moved_work_to_cpu,
)


def computed(*rows: OperatorTotals, run: Run | None = None) -> Run:
    return replace(run or make_run(CPU), operator_totals=rows)


ADD = OperatorTotals("aten::add", 3, 0, 10.0, 12.0)


def test_what_counts_as_another_result() -> None:
    before = computed(ADD)
    assert not diff_totals([before], computed(replace(ADD, total=10.011)))
    assert diff_totals([before], computed(replace(ADD, total=10.013))) == "aten::add has other results"
    assert diff_totals([before], computed(replace(ADD, host=2))) == "aten::add runs 2 times, before 3 times"
    assert diff_totals([before], computed(replace(ADD, host=1))) == "aten::add runs once, before 3 times"
    assert (
        diff_totals([before], computed(ADD, OperatorTotals("aten::mul", 1, 0))) == "aten::mul runs once, before 0 times"
    )
    assert not diff_totals([before, computed(replace(ADD, total=3.0))], computed(replace(ADD, total=5.0)))
    assert diff_totals([before, computed(replace(ADD, total=3.0))], computed(replace(ADD, host=2, total=5.0)))
    assert not diff_totals([before, computed(replace(ADD, host=4))], computed(replace(ADD, host=9)))
    assert not diff_totals([before], computed()) and not diff_totals([computed()], before)
    assert not diff_totals([before], computed(replace(ADD, host=2, device=1)))


def test_a_small_sum_may_not_differ_at_all() -> None:
    none = computed(OperatorTotals("aten::sub", 1, 0, 0.0, 0.0))
    assert diff_totals([none], none) == ""
    assert diff_totals([none], computed(OperatorTotals("aten::sub", 1, 0, 1e-6, 1e-6)))
    assert not diff_totals([none], computed(OperatorTotals("aten::sub", 1, 0, 1e-13, 1e-13)))


def test_one_operator_that_does_not_repeat_keeps_no_other_from_being_compared() -> None:
    before = [computed(replace(ADD, host=count), OperatorTotals("aten::mul", 1, 0, 1.0, 1.0)) for count in (3, 4)]
    assert diff_totals(before, computed(replace(ADD, host=9))) == "aten::mul runs 0 times, before once"
    assert (
        diff_totals([computed(ADD)], computed(OperatorTotals("aten::mul", 1, 0)))
        == "aten::add runs 0 times, before 3 times"
    )


def test_of_a_random_program_no_values_are_compared() -> None:
    before = [computed(ADD, OperatorTotals("aten::rand", 1, 0, total, 9.0)) for total in (1.0, 2.0)]
    assert not diff_totals(before, computed(replace(ADD, total=5.0), OperatorTotals("aten::rand", 1, 0, 3.0, 9.0)))
    assert (
        diff_totals(before, computed(ADD, OperatorTotals("aten::rand", 2, 0, 3.0, 9.0)))
        == "aten::rand runs 2 times, before once"
    )


HOST = Operand("other", "cpu")


def test_when_work_leaves_the_gpu() -> None:
    gone = "it takes the work off the GPU: 2 operators ran there before the failure, 1 do now"
    before = computed(OperatorTotals("aten::mul", 0, 2), run=make_run(HOME, FIRST))
    assert moved_work_to_cpu(before, HOST, computed(OperatorTotals("aten::mul", 0, 1))) == gone
    assert not moved_work_to_cpu(before, HOST, computed(OperatorTotals("aten::sub", 0, 2))) and not moved_work_to_cpu(
        before, HOST, computed()
    )
    on_host = replace(make_run(HOME), operator_counts=(OperatorCount("aten::add", 3, 0),))
    wrong = FIRST.operands[1]
    assert moved_work_to_cpu(make_run(HOME, FIRST), wrong, on_host).endswith(
        "aten::add runs on the CPU where it failed"
    )
    for other in (
        OperatorCount("aten::add", 3, 0, device=1),
        OperatorCount("aten::add", 0, 1),
        OperatorCount("aten::mul", 3, 0),
    ):
        assert not moved_work_to_cpu(make_run(HOME, FIRST), wrong, replace(on_host, operator_counts=(other,)))
    brought = replace(wrong, history=(replace(wrong.history[0], kind="move"),))
    nowhere = make_run(HOME, replace(FIRST, operands=(wrong,)))
    among = make_run(HOME, replace(FIRST, operands=(*FIRST.operands, HOST)))
    on_its_way = make_run(HOME, replace(FIRST, operands=(FIRST.operands[0], brought)))
    for run, blamed in ((on_its_way, brought), (make_run(HOME, FIRST), None), (nowhere, wrong), (among, wrong)):
        assert not moved_work_to_cpu(run, blamed, on_host)
    assert not moved_work_to_cpu(make_run(HOME, FIRST), FIRST.operands[0], on_host), (
        "what is on the GPU may be brought back"
    )
    assert not moved_work_to_cpu(make_run(HOME), wrong, on_host)
    moved = replace(FIRST.operands[0], history=brought.history)
    assert not moved_work_to_cpu(make_run(HOME, FIRST), moved, on_host)
    two = make_run(HOME, replace(FIRST, operands=(FIRST.operands[0], replace(brought, device="cuda:1"))))
    assert not moved_work_to_cpu(two, None, on_host)
    nameless = make_run(HOME, replace(FIRST, op=""))
    assert not moved_work_to_cpu(nameless, wrong, replace(on_host, operator_counts=(OperatorCount("", 1, 0),)))
    assert moved_work_to_cpu(two, two.failure.operands[1], on_host), (
        "where both lay on GPUs, neither was meant for the host"
    )


def test_what_an_array_receives_is_computed_on_the_host() -> None:
    array = Operand("self", "cpu", history=(Event("numpy", "torch.from_numpy", "cpu"),))
    added = replace(FIRST, op="aten::add_", operands=(array, Operand("other", "cuda:0")))
    on_host = replace(make_run(HOME), operator_counts=(OperatorCount("aten::add_", 3, 0),))
    assert not moved_work_to_cpu(make_run(HOME, added), array, on_host)
    plain = replace(array, history=(Event("factory", "aten::zeros", "cpu"),))
    for operand in (replace(array, argument="other"), plain):
        changed = replace(added, operands=(operand, Operand("other", "cuda:0")))
        assert moved_work_to_cpu(make_run(HOME, changed), operand, on_host), operand


def test_a_line_that_ran_on_the_gpu_runs_on_the_cpu() -> None:
    def counted(*counts: OperatorCount) -> Run:
        return replace(make_run(HOME, FIRST), operator_counts=counts)

    before = counted(OperatorCount("aten::add", 3, 1, device=3))
    (told,) = left_gpu(before, counted(OperatorCount("aten::add", 4, 0, device=3)))
    assert told == "aten::add ran on a GPU where it failed, 3 times, and runs on the CPU there now, once"
    assert not left_gpu(before, counted(OperatorCount("aten::add", 4, 0, device=4)))
    assert not left_gpu(before, counted(OperatorCount("aten::mul", 4, 0))) and not left_gpu(before, counted())
    for other in (OperatorCount("aten::add", 0, 1), OperatorCount("aten::add", 3, 1, device=2)):
        assert not left_gpu(counted(other), counted(OperatorCount("aten::add", 4, 0, device=3)))
    assert not left_gpu(replace(before, failure=None), counted(OperatorCount("aten::add", 4, 0)))


def test_what_edited_lines_compute_apart() -> None:
    gone = Edit("m.py", 2, b"a\nb\nc\n", b"a\nc\n")
    assert edited_places([gone]) == () and all(
        place.owned for place in edited_places([Edit("m.py", 1, b"a\n", b"b\n")])
    )
    new, changed = Edit("m.py", 2, b"a\nb\n", b"a\nnew\nb\n"), Edit("m.py", 2, b"a\nb\n", b"a\nc\n")
    assert [(place.path, place.line, place.end_line) for place in edited_places([new, changed])] == [
        ("m.py", 2, 2),
        ("m.py", 2, 2),
    ]
    home = replace(
        make_run(HOME),
        operator_counts=(OperatorCount("aten::mul", 1, 0), OperatorCount("aten::to", 1, 0, is_compute=False)),
    )
    nothing, there = (
        make_run(HOME),
        replace(make_run(HOME), operator_counts=(OperatorCount("aten::mul", 2, 0, device=2),)),
    )
    assert not extra_gpu_work(there, home, make_run(CPU), [new]), "it ran there without the patch"
    on_host = replace(there, operator_counts=(OperatorCount("aten::mul", 2, 0),))
    assert extra_gpu_work(on_host, home, make_run(CPU), [new])
    assert extra_gpu_work(nothing, home, make_run(CPU), [new]).endswith("without one: aten::mul")
    assert not extra_gpu_work(nothing, home, make_run(CPU), [changed]), (
        "a line that never runs without a GPU says nothing"
    )
    assert extra_gpu_work(
        nothing, home, replace(make_run(CPU), operator_counts=(OperatorCount("aten::add", 1, 0),)), [changed]
    )
    assert not extra_gpu_work(
        nothing, home, replace(make_run(CPU), operator_counts=(OperatorCount("aten::mul_", 1, 0),)), [changed]
    )
    for line, is_told in ((2, False), (3, True)):  # a `.cuda()` in the edited line, or one behind it
        assert bool(extra_gpu_work(nothing, home, make_run(CPU, failure(line, 1, 10)), [new])) is is_told
    hidden = replace(home, operator_counts=(OperatorCount("aten::_mul", 1, 0),))
    assert extra_gpu_work(
        nothing, hidden, replace(make_run(CPU), operator_counts=(OperatorCount("aten::mul", 1, 0),)), [changed]
    )
    assert extra_gpu_work(
        nothing, home, replace(make_run(CPU), operator_counts=(OperatorCount("aten::_mul", 1, 0),)), [changed]
    )
    assert not extra_gpu_work(
        nothing, replace(home, operator_counts=(OperatorCount("aten::mul_", 1, 0),)), home, [changed]
    )
    assert not extra_gpu_work(
        nothing, replace(home, operator_counts=(OperatorCount("aten::mul", 0, 1),)), make_run(CPU), [new]
    )


def test_lines_that_compute_at_each_use_may_run_their_own_operators_oftener() -> None:
    """A property that builds a distribution checks its parameters at each use, which the constructor did once."""
    before = computed(ADD, OperatorTotals("aten::gt", 1, 0))
    own = (OperatorCount("aten::gt", 2, 0),)
    after = replace(computed(ADD, OperatorTotals("aten::gt", 3, 0)), operator_counts=own)
    assert diff_totals([before], after) == "aten::gt runs 3 times, before once"
    assert not diff_totals([before], after, recomputes=True)
    oftener = replace(computed(ADD, OperatorTotals("aten::gt", 4, 0)), operator_counts=own)
    assert diff_totals([before], oftener, recomputes=True) == "aten::gt runs 4 times, before once"
    other = replace(computed(replace(ADD, host=9), OperatorTotals("aten::gt", 3, 0)), operator_counts=own)
    assert diff_totals([before], other, recomputes=True).startswith("aten::add runs 9 times")
