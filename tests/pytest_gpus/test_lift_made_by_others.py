"""Modules and tensors that another package makes for test code, which hands them over: its author would move them."""

from __future__ import annotations

import pytest
from suite_runs import run

ZOO = """
import torch

def make_net(width=3, device=None):
    return torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.BatchNorm1d(width)).to(device)


def make_pair():
    return {"net": make_net(), "width": 3}

"""
LIBRARY = """
import copy
import torch
from zoo import make_net as make_own_net

def make_net():
    return make_own_net()

class Runner:
    def __init__(self, net):
        self.net = net

    def run(self, x):
        return self.net(x)

def with_group_norm(net):
    net = copy.deepcopy(net)
    net[1] = torch.nn.GroupNorm(1, net[1].num_features)
    return net
"""
TESTS = """
import library
import torch
import zoo

def test_a_module_of_a_factory():
    assert library.Runner(zoo.make_net()).run(torch.ones(2, 3)).is_cuda

def test_one_in_a_dictionary():
    assert library.Runner(zoo.make_pair()["net"]).run(torch.ones(2, 3)).is_cuda

def test_one_that_is_told_the_host():
    assert next(zoo.make_net(device="cpu").parameters()).device.type == "cpu"

def test_one_of_the_library():
    assert next(library.make_net().parameters()).device.type == "cpu"

def test_a_replaced_layer():
    assert len(library.with_group_norm(zoo.make_net())) == 2
"""


@pytest.mark.slow
def test_a_module_that_a_call_has_made_of_nothing_is_moved(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(library=LIBRARY, test_nets=TESTS, **{"site-packages/zoo": ZOO})
    pytester.makeini("[pytest]\npythonpath = . site-packages\n")
    done = run(pytester, "--lift", "--lift-strict", "--world", "simulated")
    done.assert_outcomes(passed=4, failed=1)
    done.stdout.fnmatch_lines(["FAILED *test_a_replaced_layer*"])


READERS = """
import torch

KEPT = torch.ones(3)

def read(rows, device=None):
    return torch.tensor(rows, device=device) * 2.0

def read_all(rows):
    return {"rows": torch.tensor(rows), "kept": KEPT}

def like(x):
    return torch.ones(len(x))
"""
SCALING = """
import torch
from readers import read as own_read

def scaled(x):
    return x * torch.ones(3)

def made():
    return own_read([1.0])
"""
USES_OF_READERS = """
import readers
import scaling
import torch

def test_scaled():
    scaling.scaled(readers.read([1.0, 2.0, 3.0]))

def test_places():
    found = readers.read_all([1.0])
    assert found["rows"].is_cuda and not found["kept"].is_cuda and not readers.KEPT.is_cuda
    assert not readers.read([1.0], device="cpu").is_cuda
    assert scaling.made().device.type == "cpu" and readers.like(torch.ones(2)).device.type == "cpu"
"""


@pytest.mark.slow
def test_a_tensor_that_a_call_has_made_of_nothing_is_moved(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(scaling=SCALING, test_scaling=USES_OF_READERS, **{"site-packages/readers": READERS})
    pytester.makeini("[pytest]\npythonpath = . site-packages\n")
    done = run(pytester, "--lift", "--world", "simulated")
    assert "1 passed, 1 ended in a finding, 0 in an artefact" in done.stdout.str(), done.stdout.str()
    done.stdout.fnmatch_lines(["*scaling.py:5 *test_scaled*"])
