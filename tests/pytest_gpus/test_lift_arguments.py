"""Lifted failures: what a test passes to a call is told from what the function has bound to its parameters itself."""

from __future__ import annotations

import pytest
from suite_runs import run

LIBRARY = '''
import torch

class Noise(torch.nn.Module):
    """Add noise.

    >>> import torch
    >>> noise = Noise()
    >>> noise(torch.ones(3)).shape
    torch.Size([3])
    """

    def __init__(self):
        super().__init__()
        self.low = torch.zeros(1)

    def drawn(self, size):
        return self.low.expand(size)

    def forward(self, x, params=None):
        if params is None:
            params = {"noise": self.drawn(len(x))}
        return x + params["noise"]

    def added(self, x, noise=None):
        noise = self.drawn(len(x)) if noise is None else noise + 0
        return x + noise

def made(size):
    return torch.zeros(size)
'''

TESTS = """
import functools
import torch
from library import Noise, made

x = torch.ones(3)

def test_call():
    Noise()(x)

def test_method():
    Noise().added(x)

def test_passed():
    Noise()(x, {"noise": made(3)})

def test_passed_by_keyword():
    Noise()(x, params={"noise": made(3)})

def test_passed_and_bound_again():
    Noise().added(x, made(3))

def test_passed_by_a_dictionary():
    Noise().added(x, **{"noise": made(3)})

def test_bound_before():
    functools.partial(Noise().added, noise=made(3))(x)
"""


@pytest.mark.slow
def test_what_a_function_binds_to_its_parameters_was_not_passed(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_noise=TESTS)
    done = run(pytester, "--lift", "--world", "simulated", "--doctest-modules")
    assert "5 passed, 3 ended in a finding, 0 in an artefact" in done.stdout.str(), done.stdout.str()
    done.stdout.fnmatch_lines(["*library.py:22 *library.Noise*", "*library.py:26 *test_method*"])


BOUNDS = """
import torch

def lowest(bounds, weights):
    bounds = bounds.cpu()
    return weighed(bounds[0], weights)

def weighed(bounds, weights):
    return torch.dot(bounds, weights)

def on_host(bounds):
    return bounds.cpu()
"""

USES_OF_BOUNDS = """
import torch
from bounds import lowest, on_host, weighed

x, bounds = torch.ones(2), torch.zeros(2, 2)

def test_taken_to_the_host_and_handed_on():
    lowest(bounds, x)

def test_taken_to_the_host_before():
    weighed(on_host(bounds)[0], x)

def test_taken_to_the_host_by_the_test():
    weighed(bounds.cpu()[0], x)
"""


@pytest.mark.slow
def test_what_a_function_takes_to_the_host_was_not_passed(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(bounds=BOUNDS, test_bounds=USES_OF_BOUNDS)
    done = run(pytester, "--lift", "--world", "simulated")
    assert "2 passed, 1 ended in a finding, 0 in an artefact" in done.stdout.str(), done.stdout.str()
    done.stdout.fnmatch_lines(["*bounds.py:8 *test_taken_to_the_host_and_handed_on*"])


METRICS = """
import torch

class Total:
    def __init__(self, size):
        self.total = torch.zeros(size)
        self.seen = torch.zeros(size)

    def to(self, device):
        self.total = self.total.to(device)
        return self

    def reset(self):
        self.total = torch.zeros(len(self.total))

    def update(self, x):
        self.total += x
        return self

    def count(self, x):
        self.seen += x

    def weighed(self, weights):
        self.total *= weights

def weights(size):
    return torch.ones(size)

def filled(total):
    total.total = torch.ones(3)
    return total
"""

USES = """
import torch
from metrics import Total, filled, weights

x = torch.ones(3)

def test_update():
    Total(3).update(x)

def test_reset():
    total = Total(3).update(x)
    total.reset()
    total.update(x)

def test_what_its_move_leaves_behind():
    Total(3).count(x)

def test_passed():
    Total(3).weighed(weights(3))

def test_filled_by_a_function():
    filled(Total(3)).update(x)

def test_made_by_a_function():
    total = Total(3)
    total.total = weights(3)
    total.update(x)
"""


@pytest.mark.slow
def test_what_a_method_of_an_object_that_was_moved_creates_was_not_passed(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(metrics=METRICS, test_metrics=USES)
    done = run(pytester, "--lift", "--world", "simulated")
    assert "4 passed, 2 ended in a finding, 0 in an artefact" in done.stdout.str(), done.stdout.str()
    done.stdout.fnmatch_lines(["*metrics.py:16 *test_reset*", "*metrics.py:20 *test_what_its_move_leaves_behind*"])


DEFAULTS = """
import torch

class Solver:
    def __init__(self):
        self.generator = torch.Generator()

    @torch.no_grad()
    def noisy(self, x, times=torch.tensor([0.0, 1.0])):
        return x + torch.randn(2, generator=self.generator, device=x.device) * times[1].item()

    @staticmethod
    def scaled(x, times=torch.tensor([0.0, 1.0])):
        return x * times

def spread(x, *, times=[torch.tensor([0.0, 1.0])]):
    return x * times[0]

def made(size):
    return torch.zeros(size)
"""

USES_OF_DEFAULTS = """
import torch
from solvers import Solver, made, spread

x = torch.ones(2)

def test_beside_a_generator():
    Solver().noisy(x)

def test_default():
    Solver().scaled(x)

def test_in_a_list():
    spread(x)

def test_passed():
    Solver().scaled(x, made(2))
    spread(x, times=[made(2)])
"""


@pytest.mark.slow
def test_the_default_of_a_parameter_was_not_passed(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(solvers=DEFAULTS, test_solvers=USES_OF_DEFAULTS)
    done = run(pytester, "--lift", "--world", "simulated")
    assert "1 passed, 3 ended in a finding, 0 in an artefact" in done.stdout.str(), done.stdout.str()
    done.stdout.fnmatch_lines(["*solvers.py:9 *test_beside_a_generator*", "*solvers.py:13 *test_default*"])
