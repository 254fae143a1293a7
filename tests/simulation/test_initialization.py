"""Which calls initialize CUDA, after which a forked child must not use it: those with `_lazy_init` in torch/cuda."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).parent / "initializing.py"
WITHOUT = {
    "memory_stats()", "memory_allocated()", "memory_reserved()", "empty_cache()", "get_arch_list()", "is_available()",
    "device_count()", "manual_seed(1)", "seed()",
}  # fmt: skip


def test_the_calls_that_initialize_cuda_are_pytorchs() -> None:
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert set(found) > WITHOUT
    assert found == {name: str(name not in WITHOUT) for name in found}
