"""Modules stay where a test has put them: on the CPU among tensors that are there, too.

Lifted to the second GPU, one without parameters stays in a test that chooses its device.
"""

from __future__ import annotations

import pytest
from suite_runs import run

LIBRARY = """
import torch

class Blur(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kernel", torch.ones(3))

    def forward(self, x):
        return x * self.kernel.to(x.dtype)

class Scale(Blur):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
"""

TESTS = """
import unittest
import pytest, torch
from library import Blur, Scale

class Shift(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.zeros(3))

    def forward(self, x):
        return x + self.offset

@pytest.fixture
def device():
    return torch.device("cpu")

def test_fixture(device):
    Blur()(torch.ones(3, device=device))

def test_moved(device):
    Blur().to(device)(torch.ones(3, device=device))

def test_parameters(device):
    Scale()(torch.ones(3, device=device))

def test_class_of_the_test(device):
    Shift()(torch.ones(3, device=device))

def test_without_a_device():
    Blur()(torch.ones(3))

class TestOfUnittest(unittest.TestCase):
    device = torch.device("cpu")

    def test_attribute(self):
        Blur()(torch.ones(3, device=self.device))

    def test_options(self):
        options = {"device": self.device, "dtype": torch.float32}
        Blur()(torch.ones(3, **options))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("gpus", "passed", "found"), [(1, 7, 0), (2, 4, 3)])
def test_modules_stay_where_a_test_says_the_device(
    pytester: pytest.Pytester, gpus: int, passed: int, found: int
) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_blur=TESTS)
    done = run(pytester, "--lift", "--gpus", str(gpus), "--world", "simulated")
    assert f"{passed} passed, {found} ended in a finding, 0 in an artefact" in done.stdout.str(), done.stdout.str()
    if found:
        done.stdout.fnmatch_lines(["*library.py:9 *test_fixture*"])


ON_HOST = """
import pytest, torch
from library import Scale

@pytest.mark.parametrize("place", ["cpu", "cuda"])
def test_every_device(place):
    model = Scale().to(device=place)
    x = torch.ones(3, device=place)
    assert (lambda y: model(y))(x).device.type == place

def test_cpu():
    assert not Scale().cpu()(torch.ones(3, device="cpu")).is_cuda

def test_part():
    whole = torch.nn.Sequential(Scale()).to("cpu")
    assert not whole[0](torch.ones(3, device="cpu")).is_cuda

def test_tensors_are_lifted():
    assert Scale().to("cpu")(torch.ones(3)).is_cuda

def test_another_dtype():
    assert Scale().to(torch.float64)(torch.ones(3)).is_cuda
"""


def test_modules_that_a_test_puts_on_the_host_stay_among_tensors_of_the_host(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(library=LIBRARY, test_on_host=ON_HOST)
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=6)
