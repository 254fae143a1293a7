"""What speaks against moving a whole table of pinned memory for a few of its rows."""

from __future__ import annotations

import pytest
from objection_cases import strengths

PINNED = """import torch

class Pool:
    def __init__(self, rows):
        self.rows = {}

    def take(self, best):
        return self.rows[best]
"""


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("rows.pin_memory() if torch.cuda.is_available() else rows", ["strong"]),
        ("torch.zeros(rows, 8, pin_memory=True)", ["strong"]),
        ("torch.zeros(rows, 8, pin_memory=False)", []),
        ("rows", []),
    ],
)
def test_a_pinned_table_is_not_moved_for_its_rows(rows: str, expected: list[str]) -> None:
    text = PINNED.format(rows)
    assert strengths(text, ("self.rows[best]", "self.rows.to(best.device)[best]")) == expected
    assert strengths(text, ("self.rows[best]", "self.rows[best.cpu()].to(best.device)")) == []
    batch = text.replace("self.rows[best]", "self.rows")
    assert strengths(batch, ("return self.rows", 'return self.rows.to("cuda")')) == [], "it is pinned for this"
