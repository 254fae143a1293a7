"""A change that takes numbers too, out of one that was rejected for code that gives numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_report import patch

from devfix.model import Edit, Operand, Outcome, Patch, Run, Verdict, World
from devfix.pipeline.searching.accept_numbers import accept_numbers, with_numbers
from devfix.verification.candidate import CandidateResult

HEAD = "import torch\n\n\n"


def patch_of(before: str, after: str, head: str = HEAD) -> Patch:
    return replace(patch(), edits=(Edit("main.py", 4, (head + before).encode(), (head + after).encode()),))


def trial_of(given: Patch, numbers: tuple[str, ...], outcome: str = "regressed") -> CandidateResult:
    run = Run(World("simulated", 1), (), Outcome.CLEAN, 0, 0.1)
    return CandidateResult(given, {}, run, Verdict(outcome), numbers=numbers)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("f(x, n)", "f(x, n.to(x.device))", "f(x, n.to(x.device) if torch.is_tensor(n) else n)"),
        ("f(x, n)", "f(x, n.cpu())", "f(x, n.cpu() if torch.is_tensor(n) else n)"),
        ("y = x * o.n", "y = x * o.n.to(device=d)", "y = x * (o.n.to(device=d) if torch.is_tensor(o.n) else o.n)"),
    ],
)
def test_a_name_is_moved_if_it_is_a_tensor(before: str, after: str, expected: str) -> None:
    name = "o.n" if "o.n" in before else "n"
    for is_double in (False, True):
        found = with_numbers(patch_of(f"{before}\n", f"{after}\n"), [name], is_double)
        assert found is not None
        assert found.edits[0].after.decode() == f"{HEAD}{expected}\n"
        assert f"has no tensor for `{name}`" in found.reason


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("f(x, n().to(x.device))", "f(x, torch.as_tensor(n(), device=x.device))"),
        ("f(x, n().to(device=x.device))", "f(x, torch.as_tensor(n(), device=x.device))"),
        ("f(x, n().cpu())", 'f(x, torch.as_tensor(n(), device="cpu"))'),
    ],
)
def test_what_is_no_name_is_converted(after: str, expected: str) -> None:
    found = with_numbers(patch_of("f(x, n())\n", f"{after}\n"), ["n()"])
    assert found is not None
    assert found.edits[0].after.decode() == f"{HEAD}{expected}\n"


def test_a_number_is_not_rounded_among_tensors_of_double_precision() -> None:
    moved = patch_of("f(x, n())\n", "f(x, n().to(x.device))\n")
    assert with_numbers(moved, ["n()"], is_double=True) is None
    tried: list[Patch] = []

    def attempt(given: Patch) -> CandidateResult:
        tried.append(given)
        return trial_of(given, (), "verified")

    for dtype, is_tried in (("torch.float64", False), ("torch.float32", True)):
        met = (Operand("x", "cuda:0", dtype=dtype, shape=(3,)),)
        found = accept_numbers([trial_of(moved, ("n()",))], attempt, met)
        assert (found is not None, bool(tried)) == (is_tried, is_tried)


@pytest.mark.parametrize("after", ["f(x, n.to(x.device, torch.half))", "f(x, m.to(x.device))"])
def test_another_move_stays(after: str) -> None:
    assert with_numbers(patch_of("f(x, n)\n", f"{after}\n"), ["n"]) is None


def test_a_move_that_stood_there_stays() -> None:
    found = with_numbers(patch_of("g(n.to(d))\nf(x, n)\n", "g(n.to(d))\nf(x, n.cpu())\n"), ["n"])
    assert found is not None
    assert found.edits[0].after.decode() == f"{HEAD}g(n.to(d))\nf(x, n.cpu() if torch.is_tensor(n) else n)\n"


def test_nothing_is_converted_where_torch_has_no_name() -> None:
    assert with_numbers(patch_of("f(x, n)\n", "f(x, n.cpu())\n", "import torch as th\n"), ["n"]) is None


def test_what_was_dropped_for_numbers_alone_is_tried_again() -> None:
    tried: list[Patch] = []

    def attempt(given: Patch) -> CandidateResult:
        tried.append(given)
        return trial_of(given, (), "verified")

    moved = patch_of("f(x, n)\n", "f(x, n.cpu())\n")
    assert accept_numbers([trial_of(moved, ())], attempt) is None and not tried
    found = accept_numbers([trial_of(moved, ("n",))], attempt)
    assert found is not None and found.patch is tried[0]
