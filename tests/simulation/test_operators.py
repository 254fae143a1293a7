"""Every operator of PyTorch's own database gives on a simulated GPU the CPU's bits, or is refused as on CUDA."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
# At most five operators, each with the reason.
EXCEPTIONS = {
    "sparse.mm.reduce": "CUDA has no kernel for it, so that a GPU raises where the CPU computes",
    "histogram": "CUDA has no kernel for it",
    "histogramdd": "CUDA has no kernel for it",
    "nn.functional.linear_cross_entropy": "composite: accumulates half precision otherwise on the CPU than on devices",
}
LEAST = {"float32": 4500, "gradients": 3300, "inplace": 250, "dtypes": 9000}


def excepted(name: str) -> bool:
    return any(name == operator or name.startswith(f"{operator}.") for operator in EXCEPTIONS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", LEAST)
def test_gives_what_the_cpu_gives(mode: str) -> None:
    command = [sys.executable, str(FOLDER / "run_operators.py"), mode]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout.splitlines()[-1])
    unexpected = {name: text for name, text in report["differences"].items() if not excepted(name)}
    assert not unexpected, json.dumps(unexpected, indent=1)
    assert report["operators"] >= 600 and report["compared"] >= LEAST[mode]


JUDGING = """
import json, sys
from types import SimpleNamespace
import cuda_refusals, torch
from devfix.probe.simulation import world
world.enter("simulated", 2)
from torch.testing._internal.common_methods_invocations import op_db

def judged(name, dtype, options, text):
    op = next(each for each in op_db if each.name == name)
    sample = SimpleNamespace(kwargs=options)
    return cuda_refusals.expected(op, getattr(torch, dtype), sample, False, f"CPU: ok; GPU: {text}")

print(json.dumps([judged(*case) for case in json.load(sys.stdin)]))
"""
LSTSQ = "RuntimeError: torch.linalg.lstsq: `driver` other than `gels` is not supported on CUDA"
NO_KERNEL = "NotImplementedError: \"some_cuda\" not implemented for 'Some'"
TOO_OLD = "RuntimeError: torch._scaled_mm is only supported on CUDA devices with compute capability >= 9.0 or 8.9"
JUDGED = [
    (("torch._scaled_mm", "float32", {}, TOO_OLD), True),
    (("mm", "float32", {}, TOO_OLD), False),
    (("mm", "int64", {}, NO_KERNEL), True),
    (("mm", "float32", {}, NO_KERNEL), False),
    (("mm", "int64", {}, "AttributeError: 'NoneType' object has no attribute 'shape'"), False),
    (("add", "int64", {}, NO_KERNEL), False),
    (("linalg.lstsq", "float32", {"driver": "gelsd"}, LSTSQ), True),
    (("linalg.lstsq", "float32", {"driver": "gels"}, LSTSQ), False),
]


@pytest.mark.slow
def test_expects_the_refusals_of_cuda_alone() -> None:
    command = [sys.executable, "-c", JUDGING]
    cases = json.dumps([case for case, _ in JUDGED])
    done = subprocess.run(command, input=cases, capture_output=True, text=True, cwd=FOLDER)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == [expected for _, expected in JUDGED]


def test_exceptions_are_few() -> None:
    assert len(EXCEPTIONS) <= 5 and all(EXCEPTIONS.values())
