"""What a function makes where its caller's tensors are, or where its object was asked to be, is no host's alone."""

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


KEPT = """import torch

class Search:
    def __init__(self, width{}):
        self.width = width
        self.device = device

    def start(self):
        return torch.zeros(self.width)
"""
START = ("torch.zeros(self.width)", "torch.zeros(self.width, device=self.device)")


@pytest.mark.parametrize(
    ("signature", "made", "expected"),
    [
        (", device=None", "Search(3)", []),
        (", *, device=None", "Search(3)", []),
        (", device=None", "Search(3, device=device)", ["strong"]),
        (", device='cuda'", "Search(3)", ["strong"]),
        (", device=None", "search", ["strong"]),  # made elsewhere
    ],
)
def test_a_device_that_an_object_is_not_given(signature: str, made: str, expected: list[str]) -> None:
    text = KEPT.replace("{}", signature)
    other = {"other.py": f"from net import Search, search\ntable = {made}.start().numpy()\n"}
    assert strengths(text, START, other) == expected
