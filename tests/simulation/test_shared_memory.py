"""Memory of a simulated GPU that another process opens by its handle, as programs do that send weights themselves."""

import subprocess
import sys

import pytest

_WORLD = """
import pickle, subprocess, sys, torch
from devfix.probe.simulation import world
world.enter("simulated", 2)
"""
_CHILD = f"""{_WORLD}
rebuild, given = pickle.loads(bytes.fromhex(sys.stdin.read()))
tensor = rebuild(*given)
assert tensor.device == torch.device("cuda:1") and tensor.tolist() == [0, 1, 2, 3], tensor
tensor.add_(1)
try:
    tensor.untyped_storage()._share_cuda_()
except RuntimeError as error:
    print(error)
"""
_PARENT = f"""{_WORLD}
from torch.multiprocessing.reductions import reduce_tensor
tensor = torch.arange(4.0, device="cuda:1")
given = pickle.dumps(reduce_tensor(tensor)).hex()
child = subprocess.run([sys.executable, "-c", sys.argv[1]], input=given, text=True, capture_output=True)
print(child.returncode, child.stdout, child.stderr, tensor.tolist())
"""


@pytest.mark.slow
def test_another_process_writes_to_the_memory() -> None:
    done = subprocess.run([sys.executable, "-c", _PARENT, _CHILD], capture_output=True, text=True)
    assert done.stdout.startswith("0 Attempted to send CUDA tensor received from another process"), done
    assert done.stdout.rstrip().endswith("[1.0, 2.0, 3.0, 4.0]"), done
