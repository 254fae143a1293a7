"""Parameters in plain containers that get gradients, and that no optimizer has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from probe_programs import run_program

from devfix.execution.prefork import PreforkServer

MODEL = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(2, 2)
        self.layers = {layers}

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = layer(x)
        return x


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x):
        return self.net(x)


model = Whole()
extra = []
{between}
optimizer = torch.optim.SGD([*model.parameters(), *extra], lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
"""
LISTED = "[nn.Linear(2, 2), nn.Linear(2, 2)]"


@pytest.mark.parametrize(
    ("layers", "between", "parameters"),
    [
        (LISTED, "", 4),
        ("(nn.Linear(2, 2, bias=False),)", "", 1),
        ("nn.ModuleList([nn.Linear(2, 2)])", "", 0),
        (LISTED, "extra = [each for layer in model.net.layers for each in layer.parameters()]", 0),
        (LISTED, "for layer in model.net.layers: layer.requires_grad_(False)", 0),
        (
            LISTED,
            "torch.optim.Adam(each for layer in model.net.layers for each in layer.parameters()).step()",
            0,
        ),
        ("[torch.relu]", "", 0),
    ],
)
def test_what_a_program_meant_to_train(
    layers: str, between: str, parameters: int, tmp_path: Path, warm: PreforkServer
) -> None:
    source = MODEL.format(layers=layers, between=between)
    ran = run_program(tmp_path, source, warm=warm, world="cpu", untrained=["layers"])
    assert ran.done.exit_code == 0, ran.done.stderr
    found = ran.trace["untrained"]
    assert [each["parameters"] for each in found] == [parameters] * (parameters > 0), json.dumps(found)
    assert all((each["type"], each["attribute"]) == ("Net", "layers") for each in found)
    assert ran.trace["internal_errors"] == []


def test_nothing_is_looked_for_unasked(tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(tmp_path, MODEL.format(layers=LISTED, between=""), warm=warm, world="cpu")
    assert ran.trace["untrained"] == []
