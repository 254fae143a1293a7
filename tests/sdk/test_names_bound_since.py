"""A name stands for an operand without one, where what it holds now looks like the operand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mismatch_factory import after, meeting, tensor, use_site

from devfix.model import ScopeVariable
from devfix.sdk.fixes.moves import move_argument


@pytest.mark.parametrize(
    ("failing", "seen", "is_moved"),
    [
        ("x + WEIGHTS", tensor("WEIGHTS"), True),
        ("x.add(WEIGHTS)", tensor("WEIGHTS"), True),
        ("x + WEIGHTS", tensor("WEIGHTS", shape=(4,)), False),
        ("x + WEIGHTS", tensor("WEIGHTS", "cuda:0"), False),
        ("WEIGHTS + x", tensor("WEIGHTS"), False),
    ],
)
def test_a_name_that_was_bound_since_stands_for_an_operand_that_looks_like_it(
    failing: str, seen: ScopeVariable, is_moved: bool
) -> None:
    code = f"def f(x):\n    return {failing}\n"
    diagnosis, source = meeting(code, failing, scope=[seen])
    first, second = diagnosis.failure.operands
    unnamed = replace(diagnosis.failure, operands=(first, replace(second, names=())))
    found = [after(each) for each in move_argument(replace(diagnosis, failure=unnamed), use_site(diagnosis), source)]
    assert (code.replace("WEIGHTS", "WEIGHTS.to(x.device)") in found) is is_moved
    # An operand with a name of its own is not taken for another one.
    named = [after(each) for each in move_argument(diagnosis, use_site(diagnosis, "mask"), source)]
    assert code.replace("WEIGHTS", "WEIGHTS.to(x.device)") not in named
