"""A class of tensors with a `__torch_function__` of its own runs in it what its caller has called."""

from __future__ import annotations

import pytest
from suite_runs import run

LIBRARY = """
import torch

class Vector(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs or {})
        return result.as_subclass(Vector) if isinstance(result, torch.Tensor) else result

    def shifted(self):
        return self + torch.ones(self.shape)

def ones(count):
    return torch.ones(count).as_subclass(Vector)
"""

TESTS = """
import torch
from library import Vector, ones

def test_compared():
    assert torch.all(ones(3) == torch.tensor([1, 1, 1]))

def test_added():
    assert (torch.tensor([1.0, 2.0, 3.0]).as_subclass(Vector) + ones(3)).sum() == 9

def test_shifted():
    torch.tensor([1.0, 2.0]).as_subclass(Vector).shifted()
"""


@pytest.mark.slow
def test_what_a_test_calls_is_not_the_doing_of_the_class(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_vectors=TESTS)
    done = run(pytester, "--lift", "--world", "simulated")
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(["*2 passed, 1 ended in a finding*", "*library.py:10 *test_shifted*"])
