"""What a patch moves that was a number, or an array, when the patched program ran."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_report import failure, patch

from devfix.model import Edit, Frame, Outcome, Run, SourceLocation, World
from devfix.verification.numbers_met import numbers_met

BEFORE = b"import torch\n\ntotal = total + x\nmean = mean + x\n"
AFTER = b"import torch\n\ntotal = total.to(x.device) + x\nmean = mean + x\n"
PATCH = replace(patch(), edits=(Edit("main.py", 3, BEFORE, AFTER),))


def run_of(message: str, line: int = 3, outcome: Outcome = Outcome.OTHER) -> Run:
    at = SourceLocation("main.py", line, owned=True)
    failed = replace(failure(), exception="AttributeError", message=message, frames=(Frame(at),))
    return Run(World("simulated", 1), (), outcome, 1, 0.1, failure=failed)


@pytest.mark.parametrize("kind", ["int", "float", "bool", "numpy.ndarray", "numpy.float32"])
def test_an_edited_line_that_calls_a_method_of_a_number(kind: str) -> None:
    assert numbers_met(run_of(f"'{kind}' object has no attribute 'to'"), PATCH) == ("total",)


@pytest.mark.parametrize(
    ("message", "line", "outcome"),
    [
        ("'list' object has no attribute 'to'", 3, Outcome.OTHER),
        ("'int' object has no attribute 'cpu'", 3, Outcome.OTHER),
        ("'int' object has no attribute 'device'", 3, Outcome.OTHER),
        ("'int' object has no attribute 'to'", 4, Outcome.OTHER),
        ("'int' object has no attribute 'to'", 3, Outcome.FAILED),
    ],
)
def test_what_says_nothing_of_a_number_there(message: str, line: int, outcome: Outcome) -> None:
    assert numbers_met(run_of(message, line, outcome), PATCH) == ()


def test_two_moves_in_the_line_of_which_one_fails() -> None:
    after = AFTER.replace(b" + x\nmean", b" + x.to(d)\nmean")
    both = replace(PATCH, edits=(Edit("main.py", 3, BEFORE, after),))
    assert numbers_met(run_of("'int' object has no attribute 'to'"), both) == ()
