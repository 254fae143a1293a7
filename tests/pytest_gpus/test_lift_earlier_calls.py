"""Lifted tests whose later calls meet what earlier ones have made on the host, as the test told them no device."""

from __future__ import annotations

import pytest
from suite_runs import run

LIBRARY = """
import torch

class Noise:
    def parameters(self, n):
        return torch.nn.Parameter(torch.ones(n))

    def draw(self, scale):
        self.matrix = torch.randn(len(scale), len(scale)) * scale

    def draw_masked(self, scale, mask):
        self.matrix = torch.ones(len(scale), len(scale))

    def apply(self, x):
        return x @ self.matrix

class Point(torch.Tensor):
    pass

class Ball(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.k = torch.nn.Parameter(torch.ones(1))

    def origin(self, n, device=None):
        made = torch.zeros(n, dtype=self.k.dtype, device=device)
        return made

    def point(self, n, device=None):
        made = torch.zeros(n, device=device)
        return torch.Tensor._make_subclass(Point, made.data)

    def distance(self, point):
        return (scaled(point, 2.0) * self.k).sum()

    def center(self, n):
        return torch.zeros(n)

    def check(self, x):
        return scripted(x, self.k)

@torch.jit.script
def scaled(x, scale: float):
    return x * scale

@torch.jit.script
def scripted(x, k):
    return x > k.expand(3)
"""

TESTS = """
import torch
from library import Ball, Noise

x = torch.ones(2, 3)

def test_drawn_from_what_the_library_made():
    noise = Noise()
    noise.draw(noise.parameters(3))
    noise.apply(x)

def test_drawn_with_a_mask_on_the_gpu():
    noise = Noise()
    noise.draw_masked(noise.parameters(3), x > 0)
    noise.apply(x)

def test_a_point_of_no_device():
    ball = Ball()
    ball.check(ball.origin(3))

def test_a_point_of_a_class_of_its_own():
    ball = Ball()
    ball.distance(ball.point(3))

def test_a_point_of_which_none_can_be_told():
    assert Ball().center(3).sum() == 0
"""


@pytest.mark.slow
def test_what_earlier_calls_made_without_a_gpu_is_no_finding(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_use=TESTS)
    done = run(pytester, "--lift", "--world", "simulated", "--lift-strict")
    said = done.stdout.str()
    assert "3 passed, 2 ended in a finding, 0 in an artefact of the lift, 0 failed" in said, said
    done.stdout.fnmatch_lines(["*library.py:14 *mask_on_the_gpu", "*library.py:36 *of_which_none_can_be_told"])


METRIC = """
import torch

def as_tensor(number):
    return torch.as_tensor(float(number))

class Metric:
    def __init__(self):
        self.kept = []
        self.offset = torch.zeros(3)

    def update(self, x, y):
        self.kept.append((x, y))

    def compute(self):
        return sum((x * y).sum() for x, y in self.kept)

    def shifted(self):
        return [x + self.offset for x, _ in self.kept]
"""

UPDATES = """
import torch
from metric import Metric, as_tensor

x = torch.ones(3)

def test_computed_of_what_was_made_of_numbers():
    metric = Metric()
    metric.update(x, torch.stack([as_tensor(number) for number in (1, 2, 3)]))
    assert metric.compute() == 6

def test_made_by_the_constructor():
    metric = Metric()
    metric.update(x, 2 * x)
    assert metric.compute() == 6 and metric.shifted()
"""


@pytest.mark.slow
def test_what_the_test_computes_of_earlier_results_is_what_it_hands_over(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(metric=METRIC, test_use=UPDATES)
    done = run(pytester, "--lift", "--world", "simulated")
    said = done.stdout.str()
    assert "1 passed, 1 ended in a finding, 0 in an artefact of the lift, 0 failed" in said, said
    done.stdout.fnmatch_lines(["*metric.py:18 *made_by_the_constructor"])


KEEPS = """
import torch

class Metric:
    def __init__(self):
        self.values, self.labels = [], []
        self.weights = torch.ones(2)

    def add(self, values, labels):
        self.values += values
        self.labels += labels

    def total(self):
        return torch.stack(self.values) @ torch.stack(self.labels)

    def weighted(self):
        return torch.stack(self.values) @ self.weights

def label(number):
    return torch.as_tensor(float(number))
"""

ADDS = """
import torch
from library import Metric, label

def test_labels_of_numbers():
    labels = [label(each) for each in (0, 1)]
    metric = Metric()
    metric.add([torch.tensor(1.0), torch.tensor(2.0)], labels)
    assert metric.total() == 2

def test_weights_of_its_own():
    metric = Metric()
    metric.add([torch.tensor(1.0), torch.tensor(2.0)], [])
    weights = metric.weights
    assert metric.weighted() == 3
"""


@pytest.mark.slow
def test_what_a_test_has_of_numbers_and_gives_to_an_object_it_would_have_moved(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(library=KEEPS, test_it=ADDS)
    done = run(pytester, "--lift", "--world", "simulated")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["1 passed, 1 ended in a finding*"])


FLOW = """
import torch

class Flow(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.order = torch.nn.Parameter(torch.tensor([1, 0]), requires_grad=False)

    def forward(self, z):
        total = torch.zeros(len(z), device=z.device)
        for _ in range(2):
            z = z[:, self.order]
            total = total + z.sum(1)
        return total

class Latent:
    def __init__(self, size, device=None):
        self.mean = torch.zeros(size, device=device)

    def sample(self, n):
        return self.mean.expand(n, -1) + 1

class Pushed:
    def __init__(self, latent, flow):
        self.latent, self.flow = latent, flow

    def sample(self, n):
        return self.flow(self.latent.sample(n))

    def weighted(self, n):
        return self.flow(self.latent.sample(n)) * torch.ones(n)
"""

SAMPLES = """
from library import Flow, Latent, Pushed

def test_what_follows_the_tensors_of_an_object():
    assert Pushed(Latent(2), Flow()).sample(3).sum() == 12

def test_what_follows_none():
    Pushed(Latent(2), Flow()).weighted(3)
"""


@pytest.mark.slow
def test_what_is_made_on_the_device_of_such_a_tensor_is_no_finding_either(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(library=FLOW, test_it=SAMPLES)
    done = run(pytester, "--lift", "--world", "simulated")
    said = done.stdout.str()
    assert "1 passed, 1 ended in a finding, 0 in an artefact of the lift, 0 failed" in said, said
    done.stdout.fnmatch_lines(["*library.py:30 *follows_none"])


CHAIN = """
import torch

def scores():
    return torch.ones(2, 3)

class Chain:
    def __init__(self, scores, lengths):
        self.scores, self.lengths = scores, lengths

    def masked(self):
        steps = torch.arange(3).type_as(self.scores)
        return self.scores * (steps < self.lengths.unsqueeze(1))

    def counted(self):
        return torch.arange(3) < self.lengths.unsqueeze(1)
"""

CHAINS = """
import torch
import chain

lengths = torch.tensor([2, 3])

def total(made):
    return made.masked().sum()

def test_given_what_the_library_made():
    made = chain.scores()
    assert total(chain.Chain(made, lengths)) == 5

def test_given_what_is_on_the_gpu():
    assert total(chain.Chain(torch.ones(2, 3), lengths)) == 5
    assert chain.Chain(torch.ones(2, 3), lengths).counted().sum() == 5
"""


@pytest.mark.slow
def test_an_object_was_given_what_an_earlier_call_made(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(chain=CHAIN, test_chain=CHAINS)
    done = run(pytester, "--lift", "--world", "simulated")
    said = done.stdout.str()
    assert "1 passed, 1 ended in a finding, 0 in an artefact of the lift, 0 failed" in said, said
    done.stdout.fnmatch_lines(["*chain.py:15 *given_what_is_on_the_gpu"])
