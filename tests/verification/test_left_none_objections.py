"""What speaks against moving a part of an object that another case leaves None."""

from __future__ import annotations

import pytest
from objection_cases import strengths

LOOP = """
class Loop:
    def run(self, x):
        {asked}return self.sampler.filter(x)
"""
SAMPLER = """
class Sampler:
    def __init__(self, filtered):
        self.filter = {}
"""


@pytest.mark.parametrize(
    ("kept", "asked", "expected"),
    [
        ("Filter() if filtered else None", "", ["strong"]),
        ("None if filtered is None else Filter()", "", ["strong"]),
        ("Filter()", "", []),
        ("Filter() if filtered else Other()", "", []),
        ("Filter() if filtered else None", "if self.sampler.filter is None:\n            return x\n        ", []),
    ],
)
def test_a_part_that_is_there_or_not(kept: str, asked: str, expected: list[str]) -> None:
    moved = ("return self.sampler.filter(x)", "return self.sampler.filter.to(x.device)(x)")
    assert strengths(LOOP.format(asked=asked), moved, {"sampler.py": SAMPLER.format(kept)}) == expected
