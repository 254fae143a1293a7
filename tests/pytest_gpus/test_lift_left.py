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


@pytest.mark.slow
def test_modules_that_a_test_puts_on_the_host_stay_among_tensors_of_the_host(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(library=LIBRARY, test_on_host=ON_HOST)
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=6)


OPERATORS = """
import torch

class Diagonal:
    def __init__(self, *args):
        self.args = args

    def to(self, device):
        return type(self)(*(each.to(device) for each in self.args))

    def plus(self, x):
        return x + self.args[0]

class Sum(Diagonal):
    def plus(self, x):
        return self.args[0].plus(x)

class Normal:
    def __init__(self, mean, scale):
        self.mean, self.scale = mean, scale

    def bound(self):
        return self.scale.plus(self.mean)

def made(size):
    return torch.ones(size)
"""

PLACED = """
import pytest, torch
from operators import Diagonal, Normal, Sum, made

@pytest.fixture(params=["cpu", "cuda:0"])
def where(request):
    return torch.device(request.param)

def test_placed(where):
    scale = Diagonal(torch.ones(3, device=where).repeat(2))
    Normal(torch.zeros(6, device=where), scale).bound()

def test_nested(where):
    scale = Sum(Diagonal(torch.ones(3, device=where)))
    Normal(torch.zeros(3, device=where), scale).bound()

def test_moved():
    assert Normal(torch.zeros(3), Diagonal(torch.ones(3))).bound().is_cuda

def test_of_the_library():
    assert Normal(torch.zeros(3), Diagonal(made(3))).bound().is_cuda
"""


@pytest.mark.slow
@pytest.mark.parametrize("gpus", ["1", "2"])
def test_objects_stay_whose_tensors_a_test_has_put_elsewhere(pytester: pytest.Pytester, gpus: str) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(operators=OPERATORS, test_placed=PLACED)
    done = run(pytester, "--lift", "--gpus", gpus, "--world", "simulated")
    assert "6 passed, 0 ended in a finding, 0 in an artefact" in done.stdout.str(), done.stdout.str()


EVALUATES = """
import torch
from layers import Scale

def evaluate(model, x, device="cpu"):
    return model.to(device)(x.to(device))
"""

NETS = """
import torch
from evaluates import evaluate
from layers import Scale

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x):
        return self.scale(x)

def test_taken_to_the_host():
    assert not evaluate(Net(), torch.ones(3)).is_cuda

def test_brought_back():
    net = Net()
    evaluate(net, torch.ones(3))
    assert net.to("cuda")(torch.ones(3)).is_cuda
"""


@pytest.mark.slow
def test_modules_stay_that_the_code_under_test_takes_to_the_host(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(layers=LIBRARY, evaluates=EVALUATES, test_nets=NETS)
    done = run(pytester, "--lift", "--gpus", "1", "--world", "simulated")
    assert "2 passed, 0 ended in a finding, 0 in an artefact" in done.stdout.str(), done.stdout.str()
