"""Which calls initialize CUDA, after which a forked child must not use it: those with `_lazy_init` in torch/cuda."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DEFERRED = """
import torch
from devfix.probe.simulation import world

world.enter("simulated", 2)
state, called = torch.zeros(16, dtype=torch.uint8), []
assert not torch.cuda.default_generators
torch.manual_seed(4)
state[0] = 9
torch.cuda.set_rng_state(state, 0)
torch.cuda.manual_seed(5)
torch.cuda._lazy_call(lambda: called.append(torch.cuda.default_generators[0].initial_seed()))
assert not called and not torch.cuda.is_initialized()
torch.ones(1, device="cuda")
print(called, [each.initial_seed() for each in torch.cuda.default_generators])
"""
WRONG = """
import torch
from devfix.probe.simulation import world

world.enter("simulated", 2)
torch.cuda.set_rng_state(torch.zeros(5, dtype=torch.uint8))
try:
    torch.ones(1, device="cuda")
except torch.cuda.DeferredCudaCallError as error:
    print(str(error).splitlines()[0], torch.cuda.is_initialized())
"""
PROGRAM = Path(__file__).parent / "initializing.py"
WITHOUT = {
    "memory_stats()", "memory_allocated()", "memory_reserved()", "empty_cache()", "get_arch_list()", "is_available()",
    "device_count()", "manual_seed(1)", "seed()", "set_rng_state(torch.zeros(5, dtype=torch.uint8), 7)",
    "set_rng_state_all([])",
}  # fmt: skip


def test_the_calls_that_initialize_cuda_are_pytorchs() -> None:
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert set(found) > WITHOUT
    assert found == {name: str(name not in WITHOUT) for name in found}


def test_seeds_are_set_when_cuda_is_initialized_after_what_else_was_deferred() -> None:
    assert _told_by(DEFERRED) == ["[9] [5, 4]"]


def test_a_deferred_state_that_is_wrong_is_an_error_of_the_first_use() -> None:
    text = "CUDA call failed lazily at initialization with error: RNG state is wrong size"
    assert _told_by(WRONG) == [f"{text} False"]


def _told_by(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()
