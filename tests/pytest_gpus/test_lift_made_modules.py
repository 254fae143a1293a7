"""Modules that another package makes for test code, which hands them over: they are moved as its author would."""

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
