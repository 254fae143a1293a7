"""`pytest --lift`: results that the code under test takes to the host, put together with tensors on the GPU."""

from __future__ import annotations

import pytest
from suite_runs import run, silent_findings

pytestmark = pytest.mark.slow

LIBRARY = """
import torch

def doubled(x):
    return (x * 2).cpu()

def cast(x):
    return x.type(torch.FloatTensor) * 2

def said(x):
    \"\"\"Return twice x on the CPU.\"\"\"
    return (x * 2).cpu()

def total(x):
    return x.sum().cpu()

def is_float(x):
    return isinstance(x, torch.FloatTensor)
"""

TESTS = """
import torch
from library import cast, doubled, is_float, said, total

x = torch.ones(3)

def test_operator():
    assert (doubled(x) + x).sum() == 9

def test_comparison():
    assert torch.allclose(doubled(x), torch.full((3,), 2.0))

def test_assertion():
    torch.testing.assert_close(doubled(x), torch.full((3,), 2.0))

def test_cast():
    assert torch.equal(cast(x), x * 2)

def test_values():
    assert doubled(x).tolist() == [2, 2, 2] and doubled(x).sum() == 6

def test_said():
    assert torch.allclose(said(x), x * 2)

def test_number():
    assert torch.equal(total(x), torch.tensor(3.0))

def test_taken_by_the_test():
    assert torch.equal(x.cpu() * 2, x * 2)

def test_type():
    assert isinstance(x, torch.FloatTensor) and not is_float(x)
"""


def test_a_result_that_meets_tensors_of_the_gpu_is_a_finding(pytester: pytest.Pytester) -> None:
    found = silent_findings(pytester, LIBRARY, TESTS)
    assert {test: [(each["call"], each["line"]) for each in silent] for test, silent in found.items()} == {
        "operator": [("doubled", 4)],
        "comparison": [("doubled", 4)],
        "assertion": [("doubled", 4)],
        "cast": [("cast", 7)],
    }
    strict = run(pytester, "--lift", "--world", "simulated", "--lift-strict-at=library.py:doubled")
    strict.assert_outcomes(passed=6, failed=3)


SUMS = """
import torch

def added(x):
    total = torch.tensor(0)
    total = total + x
    return total

def taken(x):
    return (torch.zeros(3).to(x.device) + x).cpu()

def left(x):
    return torch.zeros(x.shape)
"""

READS = """
import numpy as np
import torch
from library import added, left, taken

x = torch.ones(3)

def test_read_as_an_array():
    np.testing.assert_allclose(added(x).detach().cpu().numpy(), 1)

def test_read_as_a_list():
    assert added(x).cpu().tolist() == [1, 1, 1]

def test_taken():
    assert taken(x).shape == (3,) and taken(x).tolist() == [1, 1, 1]

def test_taken_and_put_together():
    assert torch.equal(taken(x), x)

def test_left():
    assert left(x).cpu().tolist() == [0, 0, 0]
"""


def test_what_was_moved_to_the_host_was_not_left_there(pytester: pytest.Pytester) -> None:
    found = silent_findings(pytester, SUMS, READS)
    assert {test: [(each["call"], each["line"]) for each in silent] for test, silent in found.items()} == {
        "taken_and_put_together": [("taken", 9)],
        "left": [("left", 12)],
    }
