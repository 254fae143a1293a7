"""What speaks against a copy that the code below writes into, while another object keeps the tensor."""

from __future__ import annotations

import pytest
from objection_cases import found, strengths

AVERAGE = """import torch

class Average:
    def __init__(self, parameters):
        self.kept = [each.clone() for each in parameters]
        self.total = torch.zeros(3)

    def update(self, parameters, total, out):
        {body}
"""
LOOP = "for kept, each in zip(self.kept, parameters):\n            kept = kept"
WRITTEN = ".sub_(kept - each)"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{LOOP}\n            kept{WRITTEN}", ["strong"]),
        (f"{LOOP}\n            kept.data{WRITTEN}.mul_(2)", ["strong"]),
        (f"{LOOP}\n            kept -= each", ["strong"]),
        (f"{LOOP}\n            kept[0] = each", ["strong"]),
        (f"{LOOP}\n            kept = kept - each", []),
        (f"{LOOP}\n            kept{WRITTEN}\n            out.append(kept)", []),
        (f"{LOOP}\n            kept{WRITTEN}\n            print(kept.sum())", []),  # as a batch that is used later
    ],
)
def test_a_copy_of_an_element_of_a_container(body: str, expected: list[str]) -> None:
    assert strengths(AVERAGE.format(body=body), ("kept = kept\n", "kept = kept.to(each.device)\n")) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("sums = self.total\n        sums += total\n        print(sums)", ["strong"]),
        ("sums = self.total\n        sums += total\n        self.total = sums", []),
        ("sums = self.total\n        sums += total\n        return sums", []),
        ("sums = self.total\n        sums = sums + total", []),
    ],
)
def test_a_copy_of_an_attribute(body: str, expected: list[str]) -> None:
    assert strengths(AVERAGE.format(body=body), ("= self.total\n", "= self.total.to(total.device)\n")) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("out = out\n        out.copy_(total)", ["strong"]),
        ("out = out\n        out.copy_(total)\n        return out.sum()", []),
        ("out = out\n        total.copy_(out)", []),
        ("kept = torch.zeros(3)\n        out = kept\n        out.copy_(total)", []),
    ],
)
def test_a_copy_of_what_the_caller_has(body: str, expected: list[str]) -> None:
    name = "kept" if "out = kept" in body else "out"
    edit = (f"out = {name}\n", f"out = {name}.to(total.device)\n")
    assert strengths(AVERAGE.format(body=body), edit) == expected


def test_the_reason_names_what_holds_the_tensor() -> None:
    (objection,) = found(
        AVERAGE.format(body=f"{LOOP}\n            kept{WRITTEN}"), ("kept = kept\n", "kept = kept.to(each.device)\n")
    )
    assert "net.py:11 writes to `kept`, now a copy of what `zip(self.kept, parameters)` holds" in objection.reason
