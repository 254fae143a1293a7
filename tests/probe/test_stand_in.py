"""A temporary that an operator computes for itself is told as what the program gave to PyTorch's function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from probe_programs import Ran, run_program

from devfix.execution.prefork import PreforkServer

PROGRAM = """
    import torch
    import torch.nn.functional as F

    def labels(n):
        return torch.full((n, 1), 1.0)

    def main(x, known):
        F.binary_cross_entropy_with_logits(x, {given})

    main(torch.ones(4, 1, device="cuda"), torch.zeros(4, 1))
"""


def operand_on_host(tmp_path: Path, warm: PreforkServer, given: str) -> dict[str, Any]:
    ran: Ran = run_program(tmp_path, PROGRAM.format(given=given), warm=warm)
    assert ran.trace["internal_errors"] == []
    (found,) = [each for each in ran.failure["operands"] if each["device"] == "cpu"]
    return found


@pytest.mark.parametrize(
    ("given", "function", "names"),
    [("labels(4)", "labels", []), ("known", "<module>", ["known"]), ("known.sigmoid()", "main", [])],
)
def test_what_was_given_stands_for_it(
    tmp_path: Path, warm: PreforkServer, given: str, function: str, names: list[str]
) -> None:
    found = operand_on_host(tmp_path, warm, given)
    assert found["argument"] == "target"
    assert found["history"][-1]["places"][0]["function"] == function
    assert [each["expression"] for each in found["names"] if each["relation"] == "same"][:1] == names


@pytest.mark.parametrize("given", ["x * 0, weight=known[:1]", "x * 0, weight=torch.ones(4, 1)"])
def test_an_operand_that_was_given_as_it_is_stands_for_itself(tmp_path: Path, warm: PreforkServer, given: str) -> None:
    assert operand_on_host(tmp_path, warm, given)["argument"] in ("weight", "other")
