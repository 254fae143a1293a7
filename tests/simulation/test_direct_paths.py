"""Constructors that do not pass the world's dispatcher: the same values, devices and histories as through it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ENTRY = Path(__file__).resolve().parents[2] / "src" / "devfix" / "probe" / "entry"
PROGRAM = """
import sys, torch

module = lambda name: sys.modules["devfix probe." + name]
randomness, records = module("simulation.accelerators.randomness"), module("provenance.records")
through, regular = [], randomness.run

def run(*args):
    through.append(args)
    return regular(*args)

randomness.run = run
for draw in (torch.rand, torch.randn, lambda *sizes, **given: torch.randint(9, sizes, **given)):
    first, second = (draw(2, 3, generator=torch.Generator().manual_seed(3), device="cpu") for _ in range(2))
    assert torch.equal(first, second) and records.of(first) is not None
    torch.manual_seed(3)
    assert torch.equal(first, draw(2, 3))
assert not through, through
try:
    torch.rand(2, generator=torch.Generator("cuda"))
except RuntimeError as error:
    print(error)
"""


LIKE = """
import sys, torch
from torch.utils._python_dispatch import TorchDispatchMode

module = lambda name: sys.modules["devfix probe." + name]
records, special = module("provenance.records"), module("simulation.kernels.special_ops")
through, regular = [], special.unwrap_all

def unwrap_all(*args):
    through.append(args)
    return regular(*args)

special.unwrap_all = unwrap_all

class Observing(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

x = torch.arange(6.0, device="cuda").reshape(2, 3)
w = torch.nn.Parameter(x.t())
for make in (
    lambda: torch.zeros_like(x), lambda: torch.ones_like(w), lambda: torch.full_like(x.t(), 2, dtype=torch.int64),
    lambda: x.new_zeros(2, 3), lambda: x.new_full((2,), 7.0), lambda: w.new_ones(2),
):
    del through[:]
    direct = make()
    assert not through, through
    with Observing():
        seen = make()
    assert through
    assert torch.equal(direct, seen) and direct.device == seen.device and direct.dtype == seen.dtype
    assert direct.stride() == seen.stride() and direct.requires_grad == seen.requires_grad
    first, second = records.of(direct), records.of(seen)
    assert first[1][0] is second[1][0] and first[0][4] is second[0][4] is None
assert torch.zeros_like(x, device="cpu").device.type == "cpu" and x.new_ones(2, device="cpu").device.type == "cpu"
assert torch.zeros_like(x, requires_grad=True).requires_grad
"""


# Where each operator is told of, as where they are counted, the direct paths tell of those that the dispatcher sees.
TOLD = """
import sys, torch
from torch.utils._python_dispatch import TorchDispatchMode

module = lambda name: sys.modules["devfix probe." + name]
hooks, operators = module("simulation.hooks"), module("simulation.operator_tables.operators")
told, regular = [], hooks.on_created

def created(result, func, args, kwargs):
    told.append(operators.qualified_name(func))
    regular(result, func, args, kwargs)

class Observing(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

def names(call):
    del told[:]
    call()
    return list(told)

for device in ("cuda", "cpu"):
    x = torch.arange(6.0, device=device).reshape(2, 3)
    w = torch.nn.Parameter(x.t())
    n, row = torch.tensor([1, 0], device=device), x[0]
    calls = (
        lambda: x @ x.t(), lambda: torch.matmul(x, w), lambda: x.square(), lambda: torch.softmax(x, 0),
        lambda: x.log_softmax(1), lambda: torch.einsum("ij,kj->ik", x, x), lambda: torch.outer(n, n),
        lambda: torch.isclose(x, x), lambda: torch.isfinite(w), lambda: torch.nn.functional.logsigmoid(x),
        lambda: torch.norm(x), lambda: torch.where(x > 2, x, x), lambda: x.std(0), lambda: torch.mv(x, row),
        lambda: torch.nn.functional.linear(x, x), lambda: 1 - x, lambda: x.max(), lambda: torch.zeros_like(x),
        lambda: x.index_select(1, n), lambda: torch.zeros(2, device=device), lambda: torch.eye(2, device=device),
    )
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            for number, call in enumerate(calls):
                hooks.on_created = created
                direct = names(call)
                with Observing():
                    seen = names(call)
                hooks.on_created = regular
                assert direct == seen and seen, (device, grad, number, direct, seen)
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    order = {"world": {"kind": "simulated", "gpus": 1, "current": 0}, "traces": os.devnull}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DEVFIX")}
    given = {**kept, "DEVFIX_PROBE": json.dumps(order), "PYTHONPATH": str(ENTRY)}
    return subprocess.run([sys.executable, "-"], input=program, env=given, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_host_generator_needs_no_dispatcher() -> None:
    ended = run(PROGRAM)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "Expected a 'cpu' device type for generator but found 'cuda'\n"


@pytest.mark.slow
def test_what_is_made_like_a_tensor_needs_no_dispatcher() -> None:
    ended = run(LIKE)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_what_is_counted_are_the_operators_that_the_dispatcher_sees() -> None:
    ended = run(TOLD)
    assert ended.returncode == 0, ended.stderr
