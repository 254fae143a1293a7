"""`pytest --lift --world mps|xpu`: what is a finding on another accelerator, and what the lift brought about."""

from __future__ import annotations

import json

import pytest
from suite_runs import run

pytestmark = pytest.mark.slow

LIBRARY = '''
import functools
import numpy as np
import torch

def shifted(x):
    return x + torch.ones(len(x))

def scaled(x):
    return x * torch.from_numpy(np.linspace(0, 1, len(x))).to(x.device)

def typed(x, dtype=torch.float32):
    return torch.zeros(2, dtype=dtype, device=x.device)

def summed(x):
    return x.double().sum()

def fast(x):
    return torch.zeros(2, device="cpu" if x.device.type == "cpu" else "cuda")

def current(x):
    return x + torch.ones(len(x), device="xpu" if x.device.type == "xpu" else "cpu")

@functools.cache
def table(size, kind):
    return torch.ones(size, device=kind)

def tabled(x):
    return x + table(len(x), x.device if x.device.type == "cpu" else x.device.type)

def doubled(x):
    """Double.

    >>> import torch
    >>> doubled(torch.ones(1))
    tensor([2.])
    """
    return 2 * x

def weights(size):
    return torch.ones(size, dtype=torch.float64)

def halved(x):
    return torch.zeros(2)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.linspace(0, 1, 3, dtype=torch.float64))

    def forward(self, x):
        return x * self.steps.float()

class Kept(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.scale = torch.tensor(2.0)

    def forward(self, x):
        return self.linear(x) * self.scale

class Kernel:
    def __init__(self, dtype=torch.float32):
        self.dtype = dtype

    def __call__(self, x):
        return torch.zeros(2, dtype=self.dtype, device=x.device)

class OnlyCuda:
    def __init__(self):
        self.x = torch.ones(2)

    def cuda(self):
        self.x = self.x.cuda()
        return self

    def added(self, x):
        return x + self.x
'''

TESTS = """
import numpy as np
import torch
from library import Kept, Kernel, Net, OnlyCuda, doubled, fast, halved, scaled, shifted, summed, tabled, typed, weights
from library import current

def test_shifted(): assert shifted(torch.ones(3)).sum() == 6
def test_scaled(): assert scaled(torch.ones(3)).sum() == 1.5
def test_summed(): assert summed(torch.ones(3)) == 3
def test_fast(): assert fast(torch.ones(3)).sum() == 0
def test_net(): assert Net()(torch.ones(3)).sum() == 1.5
def test_current(): assert current(torch.ones(2)).sum() == 4
def test_tabled(): assert tabled(torch.ones(2)).sum() == 4
def test_kept(): assert Kept()(torch.ones(1, 2)).shape == (1, 2)
def test_halved(): assert halved(torch.ones(2)).tolist() == [0, 0]

def test_plain():
    typed(torch.ones(3)), Kernel()(torch.ones(3))
    torch.testing.assert_close(doubled(torch.ones(2)), torch.tensor([2.0, 2.0]))
    assert doubled(torch.from_numpy(np.ones(2, dtype="float32"))).numpy().sum() == 4
    torch.rand(3, generator=torch.Generator().manual_seed(1))

def test_typed(): typed(torch.ones(3), torch.float64)
def test_kernel(): Kernel(torch.float64)(torch.ones(3))
def test_module(): torch.nn.Linear(2, 2).double()
def test_own(): assert torch.ones(3, dtype=torch.float64).sum() == 3
def test_cast(): assert doubled(torch.ones(3)).double().sum() == 6
def test_array(): assert torch.from_numpy(np.ones(3)).sum() == 3
def test_met(): assert (weights(2) * torch.ones(2)).sum() == 2
def test_only_cuda(): assert OnlyCuda().added(torch.ones(2)).sum() == 4

def test_default():
    torch.set_default_dtype(torch.float64)
    try:
        scaled(torch.ones(3, dtype=torch.float32))
    finally:
        torch.set_default_dtype(torch.float32)
"""

FLOAT64 = {"test_summed", "test_scaled", "test_net"}  # that the code under test makes
OF_TESTS = {
    "test_typed",
    "test_kernel",
    "test_module",
    "test_own",
    "test_cast",
    "test_array",
    "test_met",
    "test_default",
}


def lifted(pytester: pytest.Pytester, *options: str) -> dict[str, dict[str, object]]:
    pytester.makepyfile(library=LIBRARY, test_library=TESTS)
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.mkdir("record")
    run(pytester, "--lift", "--lift-record=record", "--doctest-modules", *options)
    told = map(json.loads, (pytester.path / "record" / "results.jsonl").read_text().splitlines())
    return {each["test"].rpartition("::")[2]: each for each in told if "result" in each}


def of(told: dict[str, dict[str, object]], result: str) -> set[str]:
    return {name for name, each in told.items() if each["result"] == result}


def silent(told: dict[str, dict[str, object]]) -> set[tuple[str, str]]:
    return {(name, found["kind"]) for name, each in told.items() for found in each["silent"]}


def test_on_a_mac_float64_of_the_code_under_test_is_a_finding_and_that_of_test_code_none(
    pytester: pytest.Pytester,
) -> None:
    told = lifted(pytester, "--world", "mps")
    assert of(told, "finding") == FLOAT64 | {"test_shifted", "test_fast", "test_current"}
    assert of(told, "artefact") == OF_TESTS
    assert of(told, "passed") == {
        *("test_plain", "test_tabled", "test_kept", "test_halved", "test_only_cuda", "library.doubled")
    }
    assert silent(told) == {("test_kept", "not-moved"), ("test_halved", "result-on-host")}
    lines = {name: LIBRARY.strip().splitlines()[int(str(told[name]["at"]).partition(":")[2]) - 1] for name in FLOAT64}
    assert "np.linspace" in lines["test_scaled"] and "register_buffer" in lines["test_net"]


def test_on_the_second_of_two_xpus_what_names_the_kind_alone_is_a_finding(pytester: pytest.Pytester) -> None:
    told = lifted(pytester, "--world", "xpu", "--gpus", "2")
    assert of(told, "finding") == {"test_shifted", "test_fast", "test_current", "test_tabled"}
    assert of(told, "artefact") == set()
    assert of(told, "passed") == set(told) - of(told, "finding") - of(told, "artefact")
    assert ("test_kept", "not-moved") in silent(told) and ("test_halved", "result-on-host") in silent(told)


def test_caches_show_between_two_xpus(pytester: pytest.Pytester) -> None:
    told = lifted(pytester, "--world", "xpu", "--gpus", "2", "--lift-twice", "-k", "tabled or plain or kept")
    assert told["test_tabled"]["served"] is not None and told["test_plain"]["result"] == "passed"
