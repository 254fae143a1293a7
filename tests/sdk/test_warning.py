"""A doubt names the expression, and the lines of the function in which a run may bear it out."""

from __future__ import annotations

import pytest
from mismatch_factory import main

from devfix.sdk import warning

CODE = """import torch

def f(x):
    y = 1
    if x.device == "cpu":
        y = (
            2
        )
    return y

x.device != "cpu"
g(3)
"""


@pytest.mark.parametrize(("number", "line", "first", "last"), [(0, 5, 3, 9), (1, 11, 1, 12)])
def test_a_doubt_holds_within_its_function_else_within_the_file(number: int, line: int, first: int, last: int) -> None:
    file = main(CODE)
    found = warning(file, file.find(file.module, "x.device")[number], "It is never equal.")
    assert (found.path, found.line, found.first, found.last) == ("main.py", line, first, last)
    assert (found.expression, found.reason) == ("x.device", "It is never equal.")
