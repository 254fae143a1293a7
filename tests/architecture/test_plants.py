"""Plants of `benchmarks/plants.py`: what is removed from which expressions, and that the rest still is Python."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from plants_sites import plants  # noqa: E402 - it is no package

MODULE = """
import torch

class Net(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("scale", torch.ones(size))  # größer
        self.register_buffer("rest", None, persistent=False)

    def forward(self, x, device):
        y = torch.arange(
            len(x),
            device=x.device,
        )
        return x.to(device) + y.to(torch.float) + torch.zeros_like(x) + x.new_ones(3) + torch.tensor(1, device=device)
"""


def test_plants_of_a_module(tmp_path: Path) -> None:
    tmp_path.joinpath("net").mkdir()
    tmp_path.joinpath("net", "module.py").write_text(MODULE, encoding="utf-8")
    tmp_path.joinpath("net", "test_module.py").write_text(MODULE, encoding="utf-8")
    found = list(plants(tmp_path, "net"))
    assert [(each.removed, each.new) for each in found] == [
        ("register_buffer", "self.scale = torch.ones(size)"),
        ("device=", "torch.arange(len(x))"),
        (".to(device)", "(x)"),
        ("zeros_like", "torch.zeros((x).shape, dtype=(x).dtype)"),
        ("new_ones", "torch.ones(3, dtype=(x).dtype)"),
    ]
    assert {each.function for each in found} == {"__init__", "forward"}
    for each in found:
        ast.parse(each.apply(MODULE.encode()))
    assert found[0].old == 'self.register_buffer("scale", torch.ones(size))'
    assert found[2].apply(MODULE.encode()).decode() == MODULE.replace("x.to(device)", "(x)")
