"""What a function computes of its caller's tensors is where they are, and so is what it makes there."""

from __future__ import annotations

import pytest
from objection_cases import strengths

HEAD = """import torch

class Net(torch.nn.Module):
    def ramp(self, parts, names):
        whole = {}
        steps = torch.arange(4)
        return steps + 1, whole
"""
CHANGE = ("torch.arange(4)", "torch.arange(4, device=whole.device)")
OTHER = {"other.py": "from net import Net\ntable = Net().ramp(parts, 2)[0].numpy()\n"}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("torch.stack([parts[name] for name in names])", []),
        ("torch.cat((self.table, parts['a'].flatten()), dim=0)", []),
        ("parts['a'].flatten() * 2", []),
        ("torch.stack(parts)", []),
        ("torch.stack([self.table[name] for name in NAMES])", ["strong"]),
        ("torch.zeros(len(parts))", ["strong"]),
        ("torch.zeros(parts.shape)", ["strong"]),
    ],
)
def test_a_tensor_that_is_computed_of_what_callers_give(made: str, expected: list[str]) -> None:
    assert strengths(HEAD.replace("{}", made), CHANGE, OTHER) == expected
