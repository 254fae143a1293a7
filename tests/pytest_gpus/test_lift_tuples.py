"""Classes of code under test that can be moved, and whose derived classes are tuples too."""

from __future__ import annotations

import pytest
from suite_runs import run

LIBRARY = """
from collections import namedtuple
import torch

class Movable:
    def to(self, device):
        return type(self)(*(each.to(device) for each in self))

class State(Movable, namedtuple("State", "v z")):
    pass

RESTING = State(torch.zeros(2), torch.ones(2))

def step(x, state):
    return State(state.v.to(x.device) + x, z=state.z)
"""

TESTS = """
import torch
from library import RESTING, State, step

def test_states_keep_their_fields():
    state = step(torch.ones(2), State(torch.zeros(2), z=torch.ones(2)))
    assert type(state) is State and state.v.sum() == 2 and len(RESTING) == 2
"""


@pytest.mark.slow
def test_a_tuple_that_can_be_moved_is_made_with_its_fields(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(library=LIBRARY, test_states=TESTS)
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=1)
