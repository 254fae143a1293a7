"""`pytest --lift`: a suite that names no device runs as if its author had put what it makes on a GPU."""

from __future__ import annotations

import json

import pytest
from suite_runs import run

LIBRARY = '''
import dataclasses
import torch

def doubled(x):
    """Double a tensor.

    >>> import torch
    >>> doubled(torch.tensor([1.0, 2.0]))
    tensor([2., 4.])
    """
    return 2 * x

def shifted(x):
    offset = torch.ones(len(x))
    return x + offset

def made(size):
    return torch.ones(size)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.scale = torch.ones(3)

    def forward(self, x):
        return self.linear(x)

    def scaled(self, x):
        return self.linear(x) * self.scale

class Grown(torch.nn.Module):
    def append(self):
        self.more = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.more(x)

class Batch:
    def __init__(self, size):
        self.x = torch.ones(size)

    def to(self, device):
        self.x = self.x.to(device)
        return self

@dataclasses.dataclass(frozen=True)
class Frozen:
    x: object

    @classmethod
    def made(cls):
        return cls(torch.ones(1))

    def to(self, device):
        return dataclasses.replace(self, x=self.x.to(device))

class Unit:
    def to(self, unit):
        raise KeyError(unit)

class Changing(Net):
    def __hash__(self):
        return len(vars(self))

class Noise:
    def __init__(self, size, device=None):
        self.scale = torch.ones(size, device=device)

    def added(self, x):
        return x + self.scale

class Kept:
    def __init__(self, model):
        self.model = model

def build():
    return Net()
'''

USER = """
import library, torch

def add(x, y):
    return x + y

def within(x, lengths):
    return torch.arange(len(x), device=x.device) < lengths

def masked(x, mask=None):
    mask = library.made(3) if mask is None else mask
    return x * mask
"""

MAKES = """
import copy, pickle, unittest

import numpy as np
import pytest, torch
from torch import tensor
from helpers import helped
from library import Batch, Changing, Frozen, Grown, Kept, Net, Unit, build, doubled, made

WHOLE = torch.arange(3.0)

@pytest.fixture(scope="session")
def ones():
    return torch.ones(3)

def test_tensors_of_modules_fixtures_and_helpers(ones):
    assert all(each.device == torch.device("cuda:{gpu}") for each in (WHOLE, ones, helped(), tensor([1])))

def test_legacy_constructors():
    assert torch.Tensor([1.0]).is_cuda and torch.FloatTensor([1.0]).is_cuda and torch.LongTensor(3).is_cuda
    assert isinstance(torch.ones(1), torch.FloatTensor)
    assert torch.ones(1).type(torch.LongTensor).dtype is torch.int64

@pytest.mark.parametrize("kind", ["torch.DoubleTensor", torch.DoubleTensor])
def test_default_types(kind):
    torch.set_default_tensor_type(kind)
    try:
        assert (torch.ones(1).dtype, torch.Tensor([1.0]).dtype) == (torch.float64, torch.float64)
        assert torch.ones(1).is_cuda
    finally:
        torch.set_default_tensor_type(torch.FloatTensor)

def test_arrays_and_files(tmp_path):
    torch.save(WHOLE, tmp_path / "x")
    assert torch.load(tmp_path / "x").is_cuda and torch.from_numpy(np.ones(2)).is_cuda
    assert pickle.loads(pickle.dumps(WHOLE)).is_cuda

@pytest.mark.parametrize("x", [torch.ones(2), torch.zeros(2)])
def test_parameters(x):
    assert x.is_cuda

class TestOfUnittest(unittest.TestCase):
    def setUp(self):
        self.x = torch.ones(2)

    def test_it(self):
        self.assertTrue(self.x.is_cuda)

def test_modules_are_moved_when_they_are_made():
    net = Net()
    assert type(net) is Net and net.linear.weight.is_cuda
    assert net(torch.ones(1, 3)).is_cuda and build()(torch.ones(1, 3)).is_cuda
    assert torch.optim.SGD(net.parameters(), 0.1).param_groups[0]["params"][0].is_cuda

def test_objects_are_moved_by_their_own_method():
    assert Batch(2).x.is_cuda and type(Batch(2)) is Batch and type(copy.deepcopy(Batch(2))) is Batch
    assert type(pickle.loads(pickle.dumps(Batch(2)))) is Batch
    assert Frozen(made(1)).x.is_cuda and not Frozen.made().x.is_cuda and isinstance(Unit(), Unit)

def test_copies_of_modules_are_modules():
    net = copy.deepcopy(Net())
    assert type(net) is Net and net.linear.weight.is_cuda and type(pickle.loads(pickle.dumps(net))) is Net

def test_layers_that_are_added_before_the_first_call():
    net = Grown()
    net.append()
    assert net(torch.ones(1, 3)).is_cuda

def test_modules_with_a_hash_of_their_own():
    net = Changing()
    net.more = net(torch.ones(1, 3))
    assert net.linear.weight.is_cuda and net(torch.ones(1, 3)).is_cuda

def test_what_the_library_makes_stays():
    assert made(3).device.type == "cpu" and build().linear.weight.device.type == "cpu"
    assert Kept(Net()).model.linear.weight.is_cuda

def test_host_copies(ones):
    assert doubled(ones).numpy().sum() == 6 and np.asarray(ones).sum() == 3
    np.testing.assert_allclose(doubled(ones), [2, 2, 2])
    torch.testing.assert_close(doubled(ones), 2 * made(3))

def test_mixtures_of_the_test_itself(ones):
    kept = made(3)
    kept += ones
    assert kept.device.type == "cpu" and (ones == made(3)).all() and torch.allclose(made(3), ones)

def test_devices_by_name():
    assert torch.ones(1, device="cpu").device.type == "cpu"
    with torch.device("cpu"):
        assert torch.ones(1).device.type == "cpu"

def test_streams():
    first = torch.rand(3, generator=torch.Generator().manual_seed(1))
    assert first.is_cuda and (first == torch.rand(3, generator=torch.Generator().manual_seed(1))).all()
    assert torch.rand(3, device=WHOLE.device, generator=torch.Generator()).is_cuda

def test_loaders():
    stream = torch.Generator().manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.ones(4))
    assert all(x.is_cuda for (x,) in torch.utils.data.DataLoader(data, shuffle=True, generator=stream))
    assert all(x.is_cuda for x in torch.utils.data.DataLoader([1.0, 2.0]))
"""

FAILS = """
import unittest
import library_user, torch
from library import Grown, Net, Noise, made, shifted

def added(x, y):
    return torch.add(x, y)

def test_finding():
    shifted(torch.ones(3))

def test_attribute():
    Net().scaled(torch.ones(1, 3))

def test_default_that_the_library_makes():
    library_user.masked(torch.ones(3))

def test_own_fault():
    assert torch.ones(1).device.type == "cpu"

class TestOfUnittest(unittest.TestCase):
    def test_finding(self):
        shifted(torch.ones(2))

def test_hands_over():
    library_user.add(torch.ones(3), made(3))

def test_hands_over_another():
    library_user.within(made(3), torch.ones(3))

def test_device_that_is_left_out():
    Noise(3).added(torch.ones(3))

def test_layers_that_are_added_later():
    net = Grown()
    net.append()
    net(torch.ones(1, 3))
    net.append()
    net(torch.ones(1, 3))
"""


def suite(pytester: pytest.Pytester, **files: str) -> None:
    pytester.makeini("[pytest]\npythonpath = . tests\n")
    pytester.makepyfile(library=LIBRARY, library_user=USER)
    folder = pytester.mkdir("tests")
    folder.joinpath("helpers.py").write_text("import torch\ndef helped():\n    return torch.ones(1)\n")
    for name, text in files.items():
        folder.joinpath(f"{name}.py").write_text(text)


def test_what_tests_make_lies_on_the_gpu(pytester: pytest.Pytester) -> None:
    suite(pytester, test_makes=MAKES.replace("{gpu}", "0"))
    done = run(pytester, "--lift", "--world", "simulated", "--doctest-modules")
    done.assert_outcomes(passed=20)
    done.stdout.fnmatch_lines(["devfix: a world with 1 simulated GPU; what tests create is on cuda:0"])


@pytest.mark.slow
def test_on_two_gpus_it_lies_on_the_second(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    suite(pytester, test_makes=MAKES.replace("{gpu}", "1"))
    run(pytester, "--lift", "--gpus", "2", "--world", "simulated", "-n", "1").assert_outcomes(passed=19)


@pytest.mark.slow
def test_findings_are_told_from_artefacts(pytester: pytest.Pytester) -> None:
    suite(pytester, test_fails=FAILS)
    record = pytester.mkdir("record")
    done = run(pytester, "--lift", "--world", "simulated", "--lift-record", str(record))
    done.assert_outcomes(passed=3, failed=6)
    results = [json.loads(line) for line in record.joinpath("results.jsonl").read_text().splitlines()]
    assert results[0]["collected"] == 9
    ended = [each for each in results if "result" in each]
    found, artefact, passed = "finding", "artefact", "passed"  # what a test hands over is moved
    assert [each["result"] for each in ended] == [found, found, found, artefact, found, *[passed] * 3, found]
    assert [each["at"] for each in ended[:3]] == ["library.py:15", "library.py:30", "library_user.py:11"]
    done.stdout.fnmatch_lines(["3 passed, 5 ended in a finding, 1 in an artefact of the lift, 0 failed for another*"])


def test_a_lift_needs_a_gpu(pytester: pytest.Pytester) -> None:
    done = run(pytester, "--lift", "--gpus", "0")
    done.stderr.fnmatch_lines(["*--lift --gpus 0: a lifted run puts tensors on a GPU*"])


@pytest.mark.slow
def test_a_warning_of_a_later_release_is_no_error(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nfilterwarnings = error\n")
    text = "import warnings\nwarnings.warn('old', DeprecationWarning)\nwarnings.warn('old() is deprecated')\n"
    pytester.makepyfile(text + "def test_it():\n    pass\ndef test_other():\n    warnings.warn('large')\n")
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=1, failed=1, warnings=2)
    run(pytester, "--lift", "-W", "error::DeprecationWarning", "--world", "simulated").assert_outcomes(errors=1)
