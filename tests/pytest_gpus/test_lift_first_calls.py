"""`--lift-twice`: what a module's move leaves behind, also where a cache of an earlier call fails the warm-up first."""

from __future__ import annotations

import json

import pytest
from suite_runs import run

LIBRARY = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.solved = None

    def predicted(self, x):
        if self.solved is None:
            self.solved = torch.ones(3, device=x.device)
        return self.linear(x) * self.solved

class Sampled(torch.nn.Module):
    def __init__(self, model, like):
        super().__init__()
        self.model = model
        self.weight = torch.rand(3, device=like.device)

    def forward(self, x):
        return self.model.predicted(x) * self.weight
"""

TESTS = """
import torch
from library import Model, Sampled

def test_sampled():
    x = torch.ones(1, 3)
    model = Model()
    sampled = Sampled(model, x)
    expected = model.predicted(x)
    assert sampled(x).shape == expected.shape
"""


@pytest.mark.slow
@pytest.mark.parametrize("strict", [(), ("--lift-strict-at=library.py:Sampled.__init__",)])
def test_a_cache_hides_nothing_that_is_left_behind(pytester: pytest.Pytester, strict: tuple[str, ...]) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_sampled=TESTS)
    record = pytester.mkdir("record")
    arguments = ("--lift", "--gpus", "2", "--lift-twice", "--world", "simulated", f"--lift-record={record}", *strict)
    output = run(pytester, *arguments).stdout.str()
    told = [json.loads(line) for line in record.joinpath("results.jsonl").read_text().splitlines()]
    found = [each for result in told for each in result.get("silent") or ()]
    assert {each["kind"] for each in found} == {"not-moved"}, output
    assert [each["attribute"] for each in found] == ["Model.solved", "Sampled.weight"]
    assert ("self.weight  cuda:1" in output) == bool(strict)


WRAPPED = """
import torch

class Transformed(torch.nn.Module):
    def __call__(self, x):
        return super().__call__(x) + 1

class Weighted(Transformed):
    def __init__(self, weights):
        super().__init__()
        self.weights = weights

    def forward(self, x):
        return x * self.weights
"""

CALLS = """
import torch
from wrapped import Weighted

def test_weighted():
    Weighted(torch.ones(3))(torch.ones(3))
"""


@pytest.mark.slow
def test_a_class_that_calls_its_modules_itself_is_called_first(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(wrapped=WRAPPED, test_calls=CALLS)
    strict = ("--lift-twice", "--lift-strict-at=wrapped.py:Weighted.__init__")
    done = run(pytester, "--lift", *strict, "--gpus", "2", "--world", "simulated")
    assert "0 passed, 1 ended in a finding" in done.stdout.str(), done.stdout.str()


SKIPPING = """
import torch

class Skipping(torch.nn.Module):
    def __init__(self, branch):
        super().__init__()
        self.branch = branch

    def forward(self, x):
        return self.branch(x.exp()) + x
"""

BRANCHES = """
import torch
from skipping import Skipping

class Branch(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)

def test_skipping():
    assert Skipping(Branch())(torch.ones(1, 3)).shape == (1, 3)
"""


@pytest.mark.slow
def test_a_module_of_test_code_stays_on_the_other_gpu_while_the_one_that_calls_it_is(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(skipping=SKIPPING, test_skipping=BRANCHES)
    record = pytester.mkdir("record")
    done = run(pytester, "--lift", "--gpus", "2", "--lift-twice", "--world", "simulated", f"--lift-record={record}")
    told = [json.loads(line) for line in record.joinpath("results.jsonl").read_text().splitlines()]
    assert [each.get("silent") for each in told if each.get("silent")] == []
    assert "1 passed, 0 ended" in done.stdout.str() and "; 0 operators of test code moved" in done.stdout.str()


@pytest.mark.slow
def test_a_module_that_test_code_puts_on_the_host_stays_there(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    test = """
        import torch
        from skipping import Skipping

        def test_on():
            for device in ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]:
                module = Skipping(torch.nn.Linear(3, 3)).to(device)
                x = torch.ones(1, 3, device=device)
                assert module(x).device.type == device
                assert {each.device.type for each in module.parameters()} == {device}
        """
    pytester.makepyfile(skipping=SKIPPING, test_on=test)
    done = run(pytester, "--lift", "--gpus", "2", "--lift-twice", "--world", "simulated")
    assert "1 passed, 0 ended" in done.stdout.str(), done.stdout.str()


METHODS = """
import torch

class Cells(torch.nn.Module):
    def __init__(self, points, names=()):
        super().__init__()
        self.register_buffer("points", points)
        self.names = names
        self._partition()

    def _partition(self):
        self.bounds = torch.cat([self.points - 1, self.points + 1])

    def volume(self):
        return torch.min(self.bounds, self.points.max()).sum()

    def cell_bounds(self):
        return self.bounds

class Normal(torch.nn.Module):
    def __init__(self, loc, scale):
        super().__init__()
        self.loc = torch.nn.Parameter(loc)
        self.scale = scale
        self.seen = []

    def _apply(self, fn, recurse=True):
        self.scale = fn(self.scale)
        return super()._apply(fn, recurse)

    @torch.no_grad()
    def log_prob(self, x):
        self.seen.append(x)
        return -(((x - self.loc) / self.scale) ** 2)

    @property
    def last(self):
        return self.seen[-1]

class Mixture(torch.nn.Module):
    def __init__(self, parts, weights):
        super().__init__()
        self.parts = torch.nn.ModuleList(parts)
        self.weights = weights

    def log_prob(self, x, *, scaled=True):
        logs = torch.stack([part.log_prob(x) for part in self.parts])
        return (logs * self.weights[:, None]).sum() if scaled else logs.sum()
"""
USES = """
import torch
from methods import Cells, Mixture, Normal

def test_volume():
    cells = Cells(torch.rand(3, 2))
    assert cells.volume() > -10

def test_bounds():
    assert len(Cells(torch.rand(3, 2)).cell_bounds()) == 6

def test_normal():
    normal = Normal(torch.zeros(2), torch.ones(2))
    normal.log_prob(torch.ones(2))
    assert len(normal.seen) == 1  # a copy was called before
    assert normal.last.shape == (2,)

def test_mixture():
    parts = [Normal(torch.zeros(1), torch.ones(1)) for _ in range(2)]
    mixture = Mixture(parts, torch.tensor([0.5, 0.5]))
    mixture.log_prob(torch.ones(1))

def test_loose():
    torch.manual_seed(0)
    first = torch.rand(1)
    torch.manual_seed(0)
    Cells(torch.ones(3, 2)).volume()
    assert torch.equal(torch.rand(1), first)
"""


@pytest.mark.slow
def test_modules_are_moved_whose_methods_alone_are_called(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(methods=METHODS, test_uses=USES)
    record = pytester.mkdir("record")
    arguments = ("--lift", "--gpus", "2", "--lift-twice", "--world", "simulated")
    output = run(pytester, *arguments, f"--lift-record={record}").stdout.str()
    assert "5 passed" in output, output
    told = [json.loads(line) for line in record.joinpath("results.jsonl").read_text().splitlines()]
    found = [(each["attribute"], each["call"]) for result in told for each in result.get("silent") or ()]
    bounds = [("Cells.bounds", "volume"), ("Cells.bounds", "cell_bounds")]
    assert found == [*bounds, ("Mixture.weights", "log_prob"), ("Cells.bounds", "volume")]
    strict = run(pytester, *arguments, "--lift-strict-at=methods.py:Cells._partition").stdout.str()
    assert "2 passed, 3 ended in a finding" in strict, strict
    assert "self.bounds  cuda:1" in strict, strict
