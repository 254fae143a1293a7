"""Objects whose class derives from an abstract or a generic one, which have no attributes of their own: they move."""

from __future__ import annotations

import pytest
from suite_runs import run

LIBRARY = """
from abc import ABC
from typing import Generic, Protocol, TypeVar
import torch

T = TypeVar("T")

class Moving:
    def __init__(self, size):
        self.total = torch.zeros(size)

    def to(self, device):
        self.total = self.total.to(device)
        return self

    def update(self, x):
        self.total += x
        return self.total

class Abstract(ABC):
    __init__, to, update = Moving.__init__, Moving.to, Moving.update

class Metric(Generic[T], ABC):
    __init__, to, update = Moving.__init__, Moving.to, Moving.update

class Named(Protocol[T]):
    to, update = Moving.to, Moving.update

class Sum(Abstract):
    pass

class Mean(Metric[torch.Tensor]):
    pass

class Norm(Named[T]):
    def __init__(self, size):
        self.total = torch.zeros(size)
"""
TESTS = """
import library
import pytest
import torch

@pytest.mark.parametrize("kind", [library.Sum, library.Mean, library.Norm, library.Norm[int]])
def test_update(kind):
    metric = kind(3)
    assert metric.update(torch.ones(3)).is_cuda and isinstance(metric, getattr(kind, "__origin__", kind))
"""


@pytest.mark.slow
def test_objects_of_abstract_and_generic_classes_are_moved(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(library=LIBRARY, test_metrics=TESTS)
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=4)
