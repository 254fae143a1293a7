"""The modules that hold an operand, as each frame sees them, and copies that were made of it; by real programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from probe_programs import PYTHON, Ran, run_program

from devfix.execution.prefork import PreforkServer
from devfix.process import child_environment


@pytest.fixture(scope="module")
def warm() -> Iterator[PreforkServer]:
    warm = PreforkServer(PYTHON, child_environment())
    yield warm
    warm.close()


@pytest.fixture
def operands(tmp_path: Path, warm: PreforkServer) -> Any:
    def run(source: str) -> list[dict[str, Any]]:
        ran: Ran = run_program(tmp_path, source, warm=warm)
        assert ran.trace["internal_errors"] == []
        found: list[dict[str, Any]] = ran.trace["failure"]["operands"]
        return found

    return run


NET = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 2))
        self.heads = [nn.Linear(2, 2)]
    def forward(self, x):
        return self.heads[0](self.body(x))
"""


def roots(operand: dict[str, Any]) -> list[tuple[str, str]]:
    return [(holder["root"], holder["expression"]) for holder in sorted(operand["holders"], key=lambda h: h["frame"])]


@pytest.mark.slow
def test_holders_of_a_registered_layer_have_the_model_as_root(operands: Any) -> None:
    weight = next(each for each in operands(NET + "model = Net()\nmodel(torch.ones(1, 2).cuda())\n") if each["owner"])
    assert roots(weight) == [("model", "model.body[0]"), ("self", "self.body[0]")]


@pytest.mark.slow
def test_holders_of_a_layer_in_a_list_have_the_layer_as_root(operands: Any) -> None:
    weight = next(
        each for each in operands(NET + "model = Net().cuda()\nmodel(torch.ones(1, 2).cuda())\n") if each["owner"]
    )
    assert roots(weight) == [("model.heads[0]", "model.heads[0]"), ("self.heads[0]", "self.heads[0]")]


@pytest.mark.slow
def test_a_copy_that_was_dropped_is_told(operands: Any) -> None:
    found = operands("import torch\nx = torch.ones(2)\ny = torch.ones(2).cuda()\nx.to('cuda')\nprint(x + y)\n")
    told = {each["argument"]: each["copy"] for each in found}
    assert told["self"]["device"] == "cuda:0" and told["self"]["places"][0]["line"] == 4
    assert told["other"] is None
