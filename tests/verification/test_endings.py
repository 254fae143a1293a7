"""Programs that fail for another reason too, without a GPU: a patch may lead there and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from check_cases import Asked, verdict
from verifier_cases import CPU, FIRST, HOME, SOURCE, failure, make_run

from devfix.model import Failure, OperatorTotals, Outcome, Run, World
from devfix.verification.other_commands.endings import ends_alike

LATER = replace(failure(4, 2, 11), kind="other", exception="ValueError", message="no data")
TOTALS = OperatorTotals("aten::mul", 3, 0, 7.0, 7.0)


def ending(world: World, failed: Failure = LATER, torch: str = "2.6", total: float = 7.0) -> Run:
    """A run that ends by an exception that has nothing to do with devices."""
    run = replace(make_run(world, failed), outcome=Outcome.OTHER, exit_code=1, torch=torch)
    return replace(run, operator_totals=(replace(TOTALS, total=total),))


def asked(at_home: Run, without: Run, plain: Run | None = None) -> Asked:
    """A program that fails on a GPU, and ends otherwise without one; and its runs with a patch."""
    plain = plain or ending(CPU)

    def fixed(world: World) -> Run:
        return without if world == CPU else at_home if world == HOME else replace(at_home, world=world)

    def before(world: World) -> Run:
        return plain if world == CPU else make_run(world, FIRST)

    return Asked(before, fixed, make_run(HOME, FIRST))


def test_a_patch_holds_that_leads_to_where_the_program_ends_without_a_gpu() -> None:
    given = asked(ending(HOME), ending(CPU))
    assert verdict(given) == ("verified", "then it fails as it does without a GPU: ValueError: no data")
    assert given.calls.count((CPU, True, False, ())) == 0, "what it prints and computes is the same"


def test_the_place_of_an_end_is_that_before_the_patch() -> None:
    below = ending(HOME, replace(failure(5, 2, 11), kind="other", exception="ValueError", message="no data"))
    assert verdict(asked(below, replace(below, world=CPU)), b"new\n" + SOURCE)[0] == "verified"
    assert verdict(asked(below, replace(below, world=CPU)))[0] == "broken"


@pytest.mark.parametrize(
    ("without", "expected"),
    [
        (
            ending(CPU, replace(LATER, message="bad")),
            ("regressed", "cpu ended with ValueError: no data, now it failed otherwise: ValueError: bad"),
        ),
        (make_run(CPU), ("regressed", "cpu ended with ValueError: no data, now it clean: exit code 0")),
        (
            ending(CPU, torch=""),
            ("behaviour-changed", "nothing is seen of the program any more in the world cpu"),
        ),
        (
            replace(ending(CPU), stdout="2\n"),
            ("behaviour-changed", "the program prints something else in the world cpu"),
        ),
        (
            ending(CPU, total=9.0),
            (
                "behaviour-changed",
                "the program computes something else in the world cpu: aten::mul has other results",
            ),
        ),
    ],
)
def test_without_a_gpu_the_program_must_end_and_compute_as_before(without: Run, expected: tuple[str, str]) -> None:
    outcome, reason = verdict(asked(ending(HOME), without))
    assert outcome == expected[0] and reason.startswith(expected[1])


def test_a_clean_run_on_a_gpu_says_nothing_of_how_the_program_ends_without_one() -> None:
    assert verdict(asked(make_run(HOME), ending(CPU, replace(LATER, message="bad")))) == ("verified", "")


def test_another_end_than_that_without_a_gpu_is_no_repair() -> None:
    elsewhere = ending(HOME, replace(LATER, message="bad"))
    assert verdict(asked(elsewhere, ending(CPU))) == ("broken", "the program failed otherwise: ValueError: bad")
    given = asked(ending(HOME), ending(CPU))
    given.verifier.worlds = [HOME]
    assert verdict(given)[0] == "broken", "where it is not run without a GPU, nothing is known of its end there"


def test_a_program_that_fails_without_a_gpu_has_no_other_end() -> None:
    given = Asked(lambda world: ending(world), lambda world: ending(world), make_run(CPU, FIRST))
    assert verdict(given) == ("broken", "the program failed otherwise: ValueError: no data")


def test_the_source_that_torchscript_quotes_may_have_changed() -> None:
    said = '\n{}:\n  File "net.py", line 3\n    rows = torch.arange({})\n           ~~~~ <--- HERE\n'

    def told(problem: str, shown: str) -> Run:
        return ending(CPU, replace(LATER, message=said.format(problem, shown)))

    before = told("no method 'bool'", "n")
    assert ends_alike(told("no method 'bool'", "n, device=x.device"), before)
    assert not ends_alike(told("no method 'half'", "n"), before)
