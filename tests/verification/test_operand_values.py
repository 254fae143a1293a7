"""When a patched program is said to hand the failing operator other values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from check_cases import FIX
from probe_programs import run_program
from verifier_cases import FILES, FIRST, HOME, SOURCE, failure, make_run, patch

from devfix.execution.prefork import PreforkServer
from devfix.model import (
    Checksum,
    CountRequest,
    Diagnosis,
    Event,
    Failure,
    Finding,
    OperatorCount,
    Run,
    SourceLocation,
    World,
)
from devfix.verification.checks.operand_values import detect_operand_change, expected_checksums, misses_expected
from devfix.verification.verifier import Verifier

ONE, TWO = Checksum(3.0, 3.0), Checksum(5.0, 9.0)
SAID = "where it failed aten::add is given other values than it was"


def failing(*values: Checksum | None, history: Sequence[Event] | None = None) -> Failure:
    """The failure with values of its operands, of which the second, with a history, is to blame."""
    peer, wrong = (replace(operand, values=each) for operand, each in zip(FIRST.operands, values, strict=True))
    wrong = wrong if history is None else replace(wrong, history=tuple(history))
    return replace(FIRST, op="aten::add", operands=(peer, wrong))


def blaming(failure: Failure) -> Diagnosis:
    return Diagnosis("p/r", "", failure, Finding(1, ""))


def found(failure: Failure | None) -> tuple[Checksum, ...]:
    return expected_checksums(failure, blaming(failure or FIRST))


def test_all_known_values_are_looked_for() -> None:
    assert found(failing(ONE, TWO)) == (ONE, TWO)
    assert found(failing(None, TWO)) == (TWO,) and found(failing(ONE, None)) == (ONE,)
    assert found(replace(failing(ONE, TWO), op="torch.Tensor.numpy")) == ()
    assert found(replace(FIRST, operands=())) == () and found(None) == ()


def test_what_was_drawn_at_random_may_be_drawn_elsewhere() -> None:
    drawn = [Event("factory", "aten::empty", "cpu"), Event("random", "aten::normal_", "cpu")]
    assert found(failing(ONE, TWO, history=drawn)) == ()
    failure = failing(ONE, TWO)
    peer = replace(failure.operands[0], history=tuple(drawn))
    assert found(replace(failure, operands=(peer, failure.operands[1]))) == (ONE, TWO), "the peer's numbers stay"


def test_memory_as_it_was_found_has_no_values() -> None:
    empty = Event("factory", "aten::empty", "cpu")
    assert found(failing(ONE, TWO, history=[empty])) == (ONE,)
    assert found(failing(ONE, TWO, history=[empty, Event("op", "aten::fill_", "cpu")])) == (ONE, TWO)
    assert found(failing(ONE, TWO, history=[])) == (ONE, TWO)


def said(
    after: Run,
    again: Failure | None,
    second: Run | None = None,
    failure: Failure | None = failing(ONE, TWO),  # noqa: B008 - records do not change
    given: tuple[Checksum, ...] = (ONE, TWO),
) -> str:
    """What is said of a patched run; `second` is what is shown by one that looks for less."""
    asked = []

    def patched(reach: CountRequest) -> Run:
        asked.append(reach.expected_values)
        assert second is not None
        return second

    words = detect_operand_change(
        make_run(HOME, failure),
        blaming(failing(ONE, TWO)),
        CountRequest(expected_values=given),
        after,
        lambda: make_run(HOME, again),
        patched,
    )
    assert asked == ([] if second is None else [(TWO,)])
    return words


def visited(same: bool, op: str = "aten::add", ran: int = 1) -> Run:
    return replace(
        make_run(HOME),
        operator_counts=(
            OperatorCount("aten::mul", 1, 0),
            OperatorCount(op, ran, 0, device=ran, saw_expected_values=same),
        ),
    )


def test_an_operator_that_ran_on_other_values_is_told() -> None:
    again = failing(ONE, TWO)
    assert said(visited(False), again) == SAID
    assert said(visited(True), again) == ""
    assert said(visited(False, "aten::addmm"), again) == "", "another operator may take them in another form"
    assert said(visited(False, ran=0), again) == "" and said(make_run(HOME), again) == ""
    assert said(visited(False), again, given=()) == "" and said(visited(False), again, failure=None) == ""


def test_values_may_reach_the_operator_whose_part_failed() -> None:
    before = replace(make_run(HOME, failing(ONE, TWO)), operator_counts=(OperatorCount("aten::whole", 0, 1),))
    reach = CountRequest(expected_values=(ONE, TWO))
    alone = visited(False)  # another call of the part, on the same line
    assert misses_expected(before, reach, alone)
    whole = OperatorCount("aten::whole", 1, 0, device=1, saw_expected_values=True)
    assert not misses_expected(before, reach, replace(alone, operator_counts=(*alone.operator_counts, whole)))
    assert misses_expected(
        before, reach, replace(alone, operator_counts=(*alone.operator_counts, replace(whole, op="aten::other")))
    )


def test_values_of_a_part_are_unknown_where_one_kernel_computes_the_whole() -> None:
    """Attention adds a mask on the host by itself; with one on the GPU a kernel does, and another `add` runs."""
    before, reach = make_run(HOME, failing(ONE, TWO)), CountRequest(expected_values=(ONE, TWO))
    other = visited(False)
    assert misses_expected(before, reach, other)
    kernel = OperatorCount("aten::_scaled_dot_product_efficient_attention", 1, 0)
    both = replace(other, operator_counts=(*other.operator_counts, kernel))
    assert not misses_expected(before, reach, both)
    assert misses_expected(replace(before, operator_counts=(kernel,)), reach, both)


def test_only_what_repeats_is_held_against_a_patch() -> None:
    other = replace(ONE, total=2.0)
    assert said(visited(False), failing(other, TWO), visited(False)) == SAID
    assert said(visited(False), failing(other, TWO), visited(True)) == ""
    assert said(visited(False), failing(other, other)) == "" and said(visited(False), failing(None, None)) == ""
    assert said(visited(False), None) == "", "the failure comes and goes"
    assert said(visited(False), replace(FIRST, operands=())) == ""


def test_how_near_values_must_be_to_repeat() -> None:
    assert said(visited(False), failing(replace(ONE, total=3.002), TWO)) == SAID
    assert said(visited(False), failing(replace(ONE, total=3.004), TWO), visited(True)) == ""
    assert said(visited(False), failing(ONE, replace(TWO, total=5.008))) == SAID
    zero = Checksum(0.0, 0.0)
    failure = failing(ONE, zero)
    assert said(visited(False), failing(ONE, replace(zero, total=1e-10)), failure=failure, given=(ONE, zero)) == SAID


@pytest.mark.parametrize("moves", [False, True])
def test_which_runs_a_verdict_asks_for(moves: bool) -> None:
    """The failure has other values of its peer each time, and the patch hands on another tensor, in either run."""
    before, again = (make_run(HOME, failing(each, TWO)) for each in (ONE, Checksum(2.0, 3.0)))
    after = replace(
        make_run(HOME, failure(9, 2, 20)) if moves else make_run(HOME), operator_counts=visited(False).operator_counts
    )
    asked: list[tuple[World, bytes, bool, CountRequest]] = []

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        asked.append((world, files["m.py"], fresh, reach))
        return again if files["m.py"] == SOURCE else after

    verifier = Verifier(run, before, FILES, [HOME], lambda world: before)
    assert before.failure is not None
    candidate = verifier.run_on_failing_world(patch(FIX), blaming(before.failure))
    assert (candidate.verdict.outcome, candidate.verdict.reason, candidate.run) == ("behaviour-changed", SAID, after)
    place = (SourceLocation("m.py", 3, "f", end_line=3, owned=True),)
    assert asked == [
        (HOME, FIX, False, CountRequest(place, (ONE, TWO))),
        (HOME, SOURCE, False, CountRequest()),
        (HOME, FIX, False, CountRequest(place, (TWO,))),
    ]


def test_what_is_no_repair_anyhow_is_asked_nothing_more() -> None:
    before = make_run(HOME, failing(ONE, TWO))
    runs = [replace(before, operator_counts=visited(False).operator_counts)]
    verifier = Verifier(lambda *each: runs.pop(), before, FILES, [HOME], lambda world: before)
    assert before.failure is not None
    assert verifier.run_on_failing_world(patch(FIX), blaming(before.failure)).verdict.outcome == "same-failure"


PROGRAM = """
    import torch
    device = "cuda" if torch.cuda.is_available() else "cpu"
    first, bias = torch.arange(4.0).to(device), torch.tensor([1.0, 2.0, 4.0, 8.0])
    for step in range(3):
        seen = first + {}
    seen += bias.flip(0)
"""


@pytest.mark.parametrize(
    ("handed", "same"),
    [
        ("bias.to(device)", True),
        ("(bias.to(device) if step else first)", True),
        ("bias.to(device, torch.float16)", True),
        ("bias.flip(0).to(device)", False),
        ("bias.to(device)[:3].sum()", False),
        ("first", False),
        ("torch.full((4,), float('nan')).to(device)", False),
        ("2", False),
    ],
)
def test_the_probe_looks_for_values(handed: str, same: bool, tmp_path: Path, warm: PreforkServer) -> None:
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    before = run_program(tmp_path / "before", PROGRAM.format("bias"), warm=warm, world="simulated")
    given = [list(before.operand(name)["values"].values()) for name in ("self", "other")]
    line = {"path": str((tmp_path / "after" / "repository" / "program.py").resolve()), "line": 5}
    trace = run_program(
        tmp_path / "after", PROGRAM.format(handed), warm=warm, world="simulated", reach=[line], given=given
    ).trace
    (visit,) = (each for each in trace["operator_counts"] if each["op"] == "aten::add")
    assert visit["completed"] == 3 and visit["saw_expected_values"] is same


def test_what_is_written_to_is_not_told(tmp_path: Path, warm: PreforkServer) -> None:
    program = PROGRAM.format("bias.to(device)")
    failed = run_program(tmp_path, program, warm=warm, world="simulated")
    assert failed.operand("self")["values"] is None
    total, size = failed.operand("other")["values"].values()
    assert total == size and 0.5 * 15 < total < 1.5 * 15


def test_of_a_large_tensor_some_values_are_looked_at(tmp_path: Path, warm: PreforkServer) -> None:
    program = PROGRAM.replace("4.0", "9000.0").format("torch.arange(9000.0)")
    total, size = run_program(tmp_path, program, warm=warm, world="simulated").operand("other")["values"].values()
    assert total == size and 0.95 < total / sum(range(0, 9000, 3)) < 1.05


def test_what_is_larger_than_the_memory_is_looked_at_too(tmp_path: Path, warm: PreforkServer) -> None:
    program = PROGRAM.replace("first +", "first[0] +").format("torch.arange(4.0).expand(10**13, 4)")
    total, size = run_program(tmp_path, program, warm=warm, world="simulated").operand("other")["values"].values()
    assert total == size and 0.95 < total / (1.5 * 4096) < 1.05
