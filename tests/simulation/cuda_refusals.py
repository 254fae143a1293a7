"""Refusals of a simulated GPU that PyTorch's operator database expects of CUDA: dtypes, and arguments."""

import itertools
from typing import Any

import torch

# Words of kernels and of cuDNN for a dtype that they do not take.
_OF_DTYPES = (
    "not implemented for '",
    "getCudnnDataTypeFromScalarType() not supported for ",
    "unable to find an engine",
)
# What kernels say that ask for a newer GPU than the simulated one, an A100; the database skips their tests on it.
_OF_AGE = "is only supported on CUDA devices with compute capability"
_MOST = 200  # samples that are read for their arguments


def expected(op: Any, dtype: torch.dtype, sample: Any, grad: bool, text: str) -> bool:
    """Return whether CUDA refuses, by the database, what the simulated GPU refused in the words of `text`.

    A dtype that the database names for CUDA, and arguments that its samples for CUDA have, are never expected to be
    refused.
    """
    if not text.startswith("CPU: ok; GPU: "):
        return False
    if _OF_AGE in text:
        return str(op.name).startswith("torch._scaled_mm")
    if any(words in text for words in _OF_DTYPES):
        return dtype not in (op.backward_dtypesIfCUDA if grad else op.dtypesIfCUDA)
    return " is not supported on CUDA" in text and not _options(sample) <= _sampled(op, dtype, grad)


def _options(sample: Any) -> set[tuple[str, str]]:
    """Return the arguments by keyword that are neither tensors nor numbers, which name a way to compute."""
    return {(name, value) for name, value in sample.kwargs.items() if isinstance(value, str)}


def _sampled(op: Any, dtype: torch.dtype, grad: bool) -> set[tuple[str, str]]:
    """Return these arguments of the database's samples for CUDA."""
    samples = itertools.islice(op.sample_inputs("cuda", dtype, requires_grad=grad), _MOST)
    return set().union(*map(_options, samples))
