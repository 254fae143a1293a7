"""Lifted calls of modules: what a helper of the library has made on the host moves with the call of the test."""

from __future__ import annotations

import json

import pytest
from suite_runs import run

LIBRARY = """
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

def rows(count):
    return torch.randn(count, 3)

def packed(sizes):
    return pack_padded_sequence(torch.randn(max(sizes), len(sizes), 3), sizes, enforce_sorted=False)

def angles(count, device=None):
    return torch.rand(count, 3, device=device)

def shifted_angles(count, device=None):
    return torch.rand(count, 3, device=device) + torch.ones(3)

def doubled(angles, device=None):
    return torch.cat([angles, torch.zeros(angles.shape)])

def scaled(x):
    return torch.ones(x.shape) * x.mean().item()

def worst(function, x=None):
    x = torch.randn(2, 3) if x is None else x
    least = torch.zeros(2, 3, device=x.device)
    return torch.maximum(function(x), least)

def worst_on_the_host(function, x):
    return torch.maximum(function(x), torch.zeros(2, 3))

class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, packed):
        data, sizes, indices, back = packed
        state = torch.zeros(int(sizes[0]), 4)
        return self.linear(data), state.index_select(0, back)

class Added(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x, y):
        return x * self.weight + y
"""

TESTS = """
import torch
from torch import nn
from library import Added, Cells, angles, doubled, packed, rows, scaled, shifted_angles, worst, worst_on_the_host

x = torch.ones(2, 3)

def test_recurrent():
    assert nn.GRU(3, 4)(rows(2))[0].is_cuda

def test_packed():
    out, _ = nn.LSTM(3, 4)(packed([2, 3]))
    assert out.data.is_cuda and not out.batch_sizes.is_cuda

def test_gradient():
    given = rows(2).requires_grad_()
    Added()(given, y=rows(2)).sum().backward()
    assert given.grad.shape == (2, 3)

def test_module_in_a_function_of_the_suite():
    linear = nn.Linear(3, 3)
    worst(lambda x: linear(x) + 1)

def test_tensor_in_a_function_of_the_suite():
    worst(lambda given: given * x)

def test_function_with_a_tensor():
    worst_on_the_host(lambda given: given * 2, x)

def test_helper_that_takes_a_device():
    assert angles(2).is_cuda and not angles(2, device="cpu").is_cuda

def test_helper_that_drops_its_device():
    shifted_angles(2)

def test_what_is_made_by_a_helper_with_a_device():
    doubled(angles(2))

def test_asked_for():
    added = Added().cpu()
    assert not added(rows(2), rows(2)).is_cuda

def test_state_of_a_packed_sequence():
    Cells()(packed([2, 3]))

def test_left_by_a_call_with_tensors_on_a_gpu():
    Added()(x, scaled(x))
"""


@pytest.mark.slow
def test_arguments_that_helpers_made(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_library=TESTS)
    record = pytester.mkdir("record")
    run(pytester, "--lift", "--world", "simulated", "--lift-record", str(record))
    told = [json.loads(line) for line in record.joinpath("results.jsonl").read_text().splitlines()]
    came = {each["test"].partition("::test_")[2]: each for each in told if "result" in each}
    failed = {name: each["at"] for name, each in came.items() if each["result"] != "passed"}
    assert failed == {
        "state_of_a_packed_sequence": "library.py:39",
        "function_with_a_tensor": "library.py:29",
        "helper_that_drops_its_device": "library.py:15",
        "what_is_made_by_a_helper_with_a_device": "library.py:18",
    }
    shown = {name: [each["function"] for each in told["silent"]] for name, told in came.items() if told["silent"]}
    assert shown == {"left_by_a_call_with_tensors_on_a_gpu": ["scaled"]}
