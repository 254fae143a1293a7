"""Silent findings of what code leaves on the host: weights that it replaces, results that another call gets, objects.

What it leaves there on purpose is none.
"""

from __future__ import annotations

import json

import pytest
from suite_runs import run

LIBRARY = """
import dataclasses
import torch
from torch import nn

def reset(layer):
    for each in layer.parameters():
        each.data = torch.zeros(each.shape)

def pruned(layer):
    layer.weight = nn.Parameter(torch.eye(2))

class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.parts = nn.Embedding(4, 2), nn.ModuleList([nn.Linear(2, 2)])

    def resize(self, size):
        old, self.table = self.table.weight, nn.Embedding(size, 2)
        self.table.weight.data[:len(old)] = old.data

    def widen(self):
        self.parts[0] = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 2))

    def resize_here(self, size):
        self.table = nn.Embedding(size, 2, device=self.table.weight.device)

    def forward(self, x):
        return self.parts[0](self.table(x))

class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(2))
        self.layers = nn.ModuleList()

    def grow(self):
        self.layers.append(nn.Linear(2, 2))

    def forward(self, x):
        for each in self.layers:
            x = each(x)
        return x - self.mean

@dataclasses.dataclass
class Moments:
    mean: torch.Tensor

class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.moments = Moments(torch.tensor(2.0))
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        return self.linear(x) / self.moments.mean

class Counted(nn.Module):
    '''Counts what it has seen in a total on the CPU.'''

    def __init__(self):
        super().__init__()
        self.total = torch.tensor(0.0)

    def forward(self, x):
        self.total += x.sum().item()
        return x

    def mean(self):
        return self.total / 2

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        self.product = None

    def forward(self, x):
        if self.product is None:
            self.product = (self.two.weight @ self.one.weight).detach()
        return x @ self.product.T

def positive(x):
    return torch.tensor([at for at, each in enumerate(x.tolist()) if each > 0])

def taken(x, index):
    return x.gather(0, index)

def lengths(batch):
    return torch.tensor([len(each) for each in batch])

def peaks(x):
    '''Return the places of the peaks as a tensor on the CPU.'''
    return torch.tensor([x.argmax().item()])

def peaks_on_either(x):
    '''Return the places of the peaks, on the CPU or a GPU.'''
    return torch.tensor([x.argmax().item()])

def drawn(count):
    return torch.rand(count, 2)

def fitted(weight, x):
    return (x @ weight).sum()

class Agent(nn.Module):
    def __init__(self, device="cpu"):
        super().__init__()
        self.linear = nn.Linear(2, 2, device=device)
        self.state = torch.zeros(1, 2, device=device)

    def forward(self, x):
        return self.linear(x + self.state)

class Graph:
    def __init__(self, size, **kwargs):
        self.value = torch.zeros(size, device=kwargs.get("device", None))

    def add(self, x):
        self.value = torch.as_tensor(self.value) + x

def signs(count):
    return torch.where(torch.rand(count) > 0.5, -1.0, 1.0)

def counted(signs, x):
    total = torch.zeros(len(signs), device=signs.device)
    return total.add_(torch.as_tensor(signs) * x)

class Ball(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))

class Planes(nn.Module):
    def __init__(self, ball):
        super().__init__()
        self.ball = ball
        self.register_buffer("points", torch.cat([torch.zeros(2), ball.scale.detach()]))

class Buffer:
    def __init__(self, size, device=None):
        self.device, self.held = device, torch.zeros(size, device=device)

    def to(self, device):
        self.device = device
        return self

    def sum(self):
        return self.held + torch.ones(len(self.held), device=self.device)
"""

TESTS = """
import torch
from torch import nn
from library import *

def test_reset():
    layer = nn.Linear(2, 2)
    reset(layer)
    assert layer(torch.ones(1, 2)).sum() == 0

def test_pruned():
    layer = nn.Linear(2, 2, bias=False)
    pruned(layer)
    assert layer(torch.ones(1, 2)).sum() == 2

def test_resized():
    tokens = Tokens()
    tokens.resize(6)
    assert tokens(torch.tensor([5])).shape == (1, 2)

def test_widened():
    tokens = Tokens()
    tokens.widen()
    assert tokens(torch.tensor([3])).shape == (1, 2)

def test_resized_here():
    tokens = Tokens()
    tokens.resize_here(6)
    assert tokens(torch.tensor([5])).shape == (1, 2)

def test_layer_replaced_by_the_test():
    tokens = Tokens()
    tokens.table = nn.Embedding(6, 2)
    tokens.parts[0] = Norm()
    assert tokens(torch.tensor([5])).shape == (1, 2)

def test_grown():
    norm = Norm()
    norm.grow()
    assert norm(torch.ones(1, 2)).shape == (1, 2)

def test_replaced_by_the_test():
    norm = Norm()
    norm.mean = torch.ones(2)
    assert norm(torch.ones(1, 2)).sum() == 0

def test_dataclass():
    assert Scaled()(torch.ones(1, 2)).shape == (1, 2)

def test_counted():
    counted = Counted()
    counted(torch.ones(2))
    assert counted.mean() == 1

def test_product_of_weights():
    pair, x = Pair(), torch.ones(1, 2)
    assert torch.allclose(pair(x), pair.two(pair.one(x)), atol=1e-5)

def test_another_call():
    x = torch.tensor([1.0, -1.0])
    assert taken(x, positive(x)) == 1

def test_lengths():
    assert lengths([torch.ones(2), torch.ones(3)]).tolist() == [2, 3]

def test_told():
    assert peaks(torch.ones(3)).tolist() == [0]

def test_told_nothing():
    assert peaks_on_either(torch.ones(3)).tolist() == [0]

def test_data():
    assert fitted(torch.ones(2), drawn(3)) > 0

def test_agent():
    assert Agent()(torch.ones(1, 2)).shape == (1, 2)

def test_graph():
    graph = Graph(2)
    graph.add(torch.ones(2))
    assert graph.value.sum() == 2

def test_signs():
    assert counted(signs(3), torch.ones(3)).shape == (3,)

def test_built_of_a_module():
    assert Planes(Ball()).points.sum() == 2

def test_buffer():
    assert Buffer(2).sum().sum() == 2
"""


def results(pytester: pytest.Pytester, *arguments: str) -> dict[str, dict[str, object]]:
    """Run the suite lifted, and return what came of each test."""
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_library=TESTS)
    record = pytester.mkdir("record")
    run(pytester, "--lift", "--world", "simulated", "--lift-record", str(record), *arguments)
    told = map(json.loads, record.joinpath("results.jsonl").read_text().splitlines())
    return {each["test"].partition("::test_")[2]: each for each in told if "result" in each}


def shown(result: dict[str, object]) -> list[tuple[str, str, str]]:
    found: list[dict[str, str]] = result["silent"]  # type: ignore[assignment]
    return [(each["kind"], each["function"], each["attribute"]) for each in found]


@pytest.mark.slow
def test_what_is_left_and_what_stays_on_purpose(pytester: pytest.Pytester) -> None:
    told = results(pytester)
    assert {name for name, each in told.items() if each["result"] != "passed"} == {"buffer"}
    assert told["buffer"]["result"] == "finding"
    assert {name: shown(each) for name, each in told.items() if each["silent"]} == {
        "reset": [("result-on-host", "reset", "Linear.weight")],
        "pruned": [("result-on-host", "pruned", "Linear.weight")],
        "resized": [("result-on-host", "Tokens.resize", "Tokens.table")],
        "widened": [("result-on-host", "Tokens.widen", "ModuleList.0")],
        "dataclass": [("not-moved", "Scaled.__init__", "Scaled.moments")],
        "another_call": [("result-on-host", "positive", "")],
        "told_nothing": [("result-on-host", "peaks_on_either", "")],
    }


@pytest.mark.slow
def test_strict(pytester: pytest.Pytester) -> None:
    told = results(pytester, "--lift-strict")
    failed = {name for name, each in told.items() if each["result"] != "passed"}
    assert failed == {"reset", "pruned", "resized", "widened", "dataclass", "another_call", "told_nothing", "buffer"}


@pytest.mark.slow
def test_a_cache_of_what_a_module_computes_of_its_weights(pytester: pytest.Pytester) -> None:
    told = results(pytester, "--gpus", "2", "--lift-twice")
    assert {name: each["served"]["function"] for name, each in told.items() if each.get("served")} == {  # type: ignore[index]
        "product_of_weights": "Pair.forward"
    }
