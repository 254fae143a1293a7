"""Silent findings: what a call was given in objects, and what a module keeps, which test code may look at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from suite_runs import run

LIBRARY = """
import dataclasses
import torch

@dataclasses.dataclass
class Graph:
    x: torch.Tensor
    y: object = None

    def to(self, device):
        self.x = self.x.to(device)
        return self

    def weights(self):
        return torch.ones(len(self.x))

class Store:
    def __init__(self):
        self.held = []

    def weights(self):
        return torch.ones(len(self.held))

    def to_other(self, other):
        return torch.zeros(len(other.held))

class Sample:
    def __init__(self, values, scale=1.0):
        self.values, self.scale = values.float(), scale

    def weights(self):
        return torch.ones(len(self.values)) * self.scale

class Model:
    def fit(self, x):
        self.seen = [x]
        return self

    def scores(self):
        return torch.zeros(len(self.seen[0]))

class Rows(torch.utils.data.Dataset):
    def __init__(self, x):
        self.x = x

    def order(self):
        return torch.randperm(len(self.x))

def degrees(graphs):
    return torch.tensor([float(len(each.x)) for each in graphs])

def labels(graph):
    graph.y = torch.zeros(len(graph.x))
    return graph

def positions(size):
    return torch.arange(size)

class Ordered(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.order = positions(size)

    def forward(self, x):
        return x[self.order]

class Larger(Ordered):
    pass

class Counted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = torch.zeros(())
        self.edges = torch.arange(3.0)

    def forward(self, x):
        self.calls += 1
        return x

    def centers(self):
        return self.edges[1:] - 0.5

class Average:
    def __init__(self, device="cpu"):
        self.device = torch.device(device)

    def mean_of(self, x):
        return torch.zeros(1, device=self.device) + x.mean().item()

class Plain:
    def mean_of(self, x):
        return torch.zeros(1) + x.mean().item()
"""

TESTS = """
import torch
from library import Average, Counted, Graph, Larger, Model, Ordered, Plain, Rows, Sample, Store, degrees, labels

x = torch.ones(3)

def filled(device=None):
    store = Store()
    store.held.append(torch.ones(3, device=device))
    return store

def test_object_that_takes_a_device():
    assert Average().mean_of(x).item() == 1

def test_object_that_takes_none():
    assert Plain().mean_of(x).item() == 1

def test_object():
    assert degrees([Graph(x)]).tolist() == [3]

def test_attribute_of_an_object():
    assert (labels(Graph(x)).y + x).sum() == 3

def test_own_method():
    assert Graph(x).weights().sum().item() == 3

def test_own_method_of_what_does_not_move():
    assert filled().weights().sum().item() == 1

def test_own_method_of_what_was_given():
    assert Sample(x).weights().sum().item() == 3

def test_own_method_of_what_was_given_the_host():
    assert Sample(torch.ones(3, device="cpu")).weights().sum().item() == 3

def test_own_method_of_what_was_given_no_tensor():
    sample = Sample(x)
    sample.values = [1.0]
    assert sample.weights().sum().item() == 1

def test_own_method_after_another():
    assert (Model().fit(x).scores() + x).sum() == 3

def test_order_of_rows():
    assert sorted(Rows(x).order().tolist()) == [0, 1, 2]

def test_another():
    assert Store().to_other(filled()).sum().item() == 0

def test_object_on_the_host():
    assert Store().to_other(filled("cpu")).sum().item() == 0

def test_count():
    counted = Counted()
    assert counted(x).sum() == 3 and counted.calls == 1 and counted.calls.item() == 1

def test_attribute_that_is_compared():
    edges = Counted().edges
    assert (edges >= 0).all() and torch.allclose(edges, torch.arange(3.0)) and edges.max().item() == 2
    torch.testing.assert_close(edges, torch.arange(3.0))

def test_method():
    assert (Counted().centers() == torch.tensor([0.5, 1.5])).all()

def test_method_that_is_read():
    assert (Counted().centers() > 0).all()

def test_index():
    assert Ordered(3)(x).sum() == 3

def test_index_of_a_subclass():
    assert Larger(3)(x).sum() == 3
"""


@pytest.mark.slow
def test_what_is_given_and_what_is_kept(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_library=TESTS)
    record = pytester.mkdir("record")
    run(pytester, "--lift", "--world", "simulated", "--lift-record", str(record))
    told = [json.loads(line) for line in Path(record, "results.jsonl").read_text().splitlines()]
    told = [each for each in told if "result" in each]
    assert {each["result"] for each in told} == {"passed"}, told
    found = {each["test"].partition("::test_")[2]: each["silent"] for each in told if each["silent"]}
    assert {name: [(each["kind"], each["function"]) for each in silent] for name, silent in found.items()} == {
        "object": [("result-on-host", "degrees")],
        "object_that_takes_none": [("result-on-host", "Plain.mean_of")],
        "attribute_of_an_object": [("result-on-host", "labels")],
        "own_method": [("result-on-host", "Graph.weights")],
        "own_method_of_what_was_given": [("result-on-host", "Sample.weights")],
        "own_method_after_another": [("result-on-host", "Model.scores")],
        "another": [("result-on-host", "Store.to_other")],
        "method": [("not-moved", "Counted.__init__")],
        "method_that_is_read": [("not-moved", "Counted.__init__")],
        "index": [("not-moved", "Ordered.__init__")],
        "index_of_a_subclass": [("not-moved", "Ordered.__init__")],
    }
