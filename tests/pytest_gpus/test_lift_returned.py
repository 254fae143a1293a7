"""`pytest --lift`: results that a call leaves on the host, of which the test looks at the shape alone."""

from __future__ import annotations

import pytest
from suite_runs import run, silent_findings

pytestmark = pytest.mark.slow

LIBRARY = """
import sys
import torch

def padded(rows):
    made = torch.zeros(len(rows), 4)
    for at, row in enumerate(rows):
        made[at, : len(row)] = row
    return made

def moments(x):
    return {"mean": x.mean(0), "count": torch.ones(x.shape[1])}

def moved(x):
    return torch.ones(3).to(x.device)

def loss(x):
    return torch.tensor(float(x.sum()))

def sizes(rows):
    return torch.tensor([len(row) for row in rows])

def said(x):
    '''Return ones on the CPU.'''
    return torch.ones(3)

def called(function, x):
    torch.ones(1)
    return function(x)

def fails(x):
    torch.ones(1)
    raise ValueError(x)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return torch.zeros(x.shape)

class Headed(torch.nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body, self.head, self.lazy = body, torch.nn.Linear(3, 1), torch.nn.LazyLinear(1)

def headed(body):
    return Headed(body)

def extended(body):
    body.append(torch.nn.Linear(3, 1))
    return body

def fitted(x):
    return Net()
"""

TESTS = """
import sys
import pytest, torch
from library import Net, called, extended, fails, fitted, headed, loss, moments, moved, padded, said, sizes

x = torch.ones(2, 3)

def test_result():
    assert padded([torch.ones(2), torch.ones(4)]).shape == (2, 4)

def test_part_of_a_result():
    assert len(moments(x)) == 2

def test_of_a_module():
    assert Net()(x).shape == x.shape

def test_module_in_part():
    assert headed(torch.nn.Linear(3, 3)).head.out_features == 1

def test_module_of_the_test():
    assert extended(torch.nn.Sequential(torch.nn.Linear(3, 3)))(x).shape == (2, 1)

def test_module_on_the_host():
    assert fitted(x).linear.in_features == 3

def test_in_a_call_of_a_call():
    assert called(lambda x: padded([x[0]]), x).shape == (1, 4)

def test_on_the_gpu():
    assert moved(x).shape == (3,)

def test_number():
    assert loss(x).ndim == 0

def test_sizes():
    assert sizes([x, x]).shape == (2,)

def test_said():
    assert said(x).shape == (3,)

def test_without_tensors():
    assert sizes([[1]]).shape == (1,)

def test_failure():
    with pytest.raises(ValueError):
        fails(x)
    assert sys.gettrace() is None

def test_that_is_traced():
    sys.settrace(lambda frame, event, value: None)
    padded([torch.ones(2)])
    sys.settrace(None)
"""


def test_a_result_of_which_only_the_shape_is_read_is_a_finding(pytester: pytest.Pytester) -> None:
    found = silent_findings(pytester, LIBRARY, TESTS)
    assert {test: [(each["kind"], each["call"]) for each in silent] for test, silent in found.items()} == {
        "result": [("result-on-host", "padded")],
        "part_of_a_result": [("result-on-host", "moments")],
        "of_a_module": [("result-on-host", "forward")],
        "module_in_part": [("result-on-host", "headed")],
    }
    strict = run(pytester, "--lift", "--world", "simulated", "--lift-strict-at=library.py:padded")
    strict.assert_outcomes(passed=13, failed=1)


PRIVATE = """
import torch

class Sampler:
    def __init__(self, x, fixed):
        self._fixed = torch.as_tensor(fixed)
        self._scale = torch.zeros(3)
        self.offset = torch.zeros(3)
        self.values = x

    @property
    def scale(self):
        return self._scale

    def drawn(self):
        return self.values[self._fixed]
"""

LOOKS = """
import torch
from library import Sampler

x = torch.ones(3)

def test_private():
    sampler = Sampler(x, [1])
    assert (sampler._fixed == torch.tensor([1])).all() and sampler._fixed.tolist() == [1]
    assert all(each in [1] for each in sampler._fixed)
    assert sampler.drawn().shape == (1,)

def test_property():
    assert (Sampler(x, [1]).scale == 0 * x).all()

def test_public():
    assert Sampler(x, [1]).offset.tolist() == [0, 0, 0]
"""


def test_what_a_test_looks_up_by_a_private_name_is_no_result(pytester: pytest.Pytester) -> None:
    found = silent_findings(pytester, PRIVATE, LOOKS)
    lines = {test: [each["line"] for each in silent] for test, silent in found.items()}
    assert lines == {"property": [6], "public": [7]}


GRAPHS = """
import torch

class Store:
    def __init__(self, **values):
        self.mapping = values

class Graph:
    def __init__(self, **values):
        self.store = Store(**values)

def split(graph):
    mask = torch.zeros(len(graph.store.mapping["x"]), dtype=torch.bool)
    graph.store.mapping["mask"] = mask
    return mask
"""

SPLITS = """
import torch
from library import Graph, split

def test_on_a_gpu():
    assert split(Graph(x=torch.ones(3))).shape == (3,)

def test_on_the_host():
    assert split(Graph(x=torch.ones(3, device="cpu"))).shape == (3,)

def test_without_tensors():
    assert split(Graph(x=[1, 2])).shape == (2,)
"""


def test_tensors_in_the_parts_of_an_object_are_given_with_it(pytester: pytest.Pytester) -> None:
    found = silent_findings(pytester, GRAPHS, SPLITS)
    assert {test: [each["line"] for each in silent] for test, silent in found.items()} == {"on_a_gpu": [12]}


FOLLOWED = """
import torch

def identity(x):
    return torch.eye(len(x), device=x.device)

def rotation(angles):
    axis = torch.randn(3)
    return identity(axis)

def on_host(angles):
    return torch.eye(len(angles), device="cpu")
"""

ROTATES = """
import torch
import library

angles = torch.ones(3)

def test_rotation():
    assert library.rotation(angles).shape == (3, 3)

def test_on_host():
    assert library.on_host(angles).shape == (3, 3)
"""


def test_what_is_made_where_another_tensor_is_has_the_cause_of_that_one(pytester: pytest.Pytester) -> None:
    found = silent_findings(pytester, FOLLOWED, ROTATES)
    assert {test: [each["line"] for each in silent] for test, silent in found.items()} == {
        "rotation": [7],
        "on_host": [11],
    }
