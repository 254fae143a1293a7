"""Each operator takes, on a simulated GPU, the dtypes that PyTorch's own database says CUDA takes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
# Operators whose samples in the database say nothing of CUDA, or which differ; each with the reason.
EXCEPTIONS = {
    "sparse.mm": "CUDA has no kernel for the reduction, whatever the database says",
    "as_strided": "the samples of partial views reach beyond the storage of what is moved",
    "tensor_split": "the samples' indices must stay on the CPU",
    "jiterator": "compiles CUDA code",
    "torch.ops.aten._flash_attention_forward": "the kernel alone, which no CPU has",
    "torch.ops.aten._efficient_attention_forward": "the kernel alone, which no CPU has",
    "torch._scaled_mm": "the database asks which GPU there is",
    "fft.": "samples of half precision have sizes that are no powers of two",
    "broadcast_shapes": "takes no tensor",
    "nn.functional.rrelu": "writes the noise that it drew, which is not widened",
    "nn.functional.silu": "two entries, one for real and one for complex numbers",
    "linalg.svd": "samples without elements reach no kernel",
    "svd": "samples without elements reach no kernel",
    "histogram": "CUDA has no kernel for it",
    "cumprod": "booleans are computed on the CPU too",
    "cumsum": "booleans are computed on the CPU too",
    "nn.functional.linear_cross_entropy": "composite: takes another way in bfloat16 on devices",
    "nn.functional.bilinear": "integers are computed as on the CPU, which differs from CUDA",
    "einsum": "the first samples multiply no matrices",
    "randint": "the database leaves booleans out",
    "searchsorted": "the database leaves booleans out",
    "nn.functional.embedding": "the database leaves weights of integers out, which are looked up all the same",
    "linalg.matrix_power": "the first samples invert nothing, and products exist in half precision",
    "masked.median": "the database leaves integers out, of which the first samples have no elements to fill",
    "linspace": "the database leaves booleans out",
    "logspace": "the database leaves booleans out",
    "scatter_reduce": "booleans are reduced as on the CPU",
}


def reported(program: str) -> "dict[str, Any]":
    command = [sys.executable, str(FOLDER / program)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


@pytest.mark.exhaustive
def test_takes_the_dtypes_that_cuda_takes() -> None:
    report = reported("run_dtypes.py")
    found = {name: what for name, what in report["differences"].items() if not name.startswith(tuple(EXCEPTIONS))}
    assert not found, json.dumps(found, indent=1)
    assert report["tried"] >= 2500


# Operators that take what the database calls wrong, or refuse it in other words; each with the reason.
WRONG = {
    "clamp_max": "the database's input is right: a number is taken as a bound",
    "clamp_min": "the database's input is right: a number is taken as a bound",
    "__rmod__": "returns NotImplemented, as Python's operators do",
    "__rpow__": "returns NotImplemented, as Python's operators do",
    "__rsub__": "returns NotImplemented, as Python's operators do",
    "median": "more than 25 dimensions are taken, as by the CPU",
    "histogramdd": "CUDA has no kernel for it",
}


@pytest.mark.exhaustive
def test_refuses_wrong_inputs_in_the_words_of_the_database() -> None:
    report = reported("run_errors.py")
    found = {name: what for name, what in report["differences"].items() if name not in WRONG}
    assert not found, json.dumps(found, indent=1)
    assert report["tried"] >= 600
