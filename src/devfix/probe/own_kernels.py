"""Operators whose kernels are Python: those that a program registers for CUDA, and those that take functions."""

from __future__ import annotations

from typing import Any

import torch

from . import modes
from .plans import special

_Key = torch._C.DispatchKey


def here(plan: Any, error: Exception) -> bool:
    """Whether an operator failed because the program has registered it for CUDA alone."""
    return isinstance(error, NotImplementedError) and _only_for_cuda(plan.name)


def _only_for_cuda(name: str) -> bool:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return not name.startswith("aten::") and has(name, "CUDA") and not has(name, "CPU")


def run(func: Any, args: Any, kwargs: Any) -> Any:
    """Run the kernel that the program has registered for CUDA, on its simulated tensors."""
    with modes.entered():
        return func._op_dk(_Key.CUDA, *args, **(kwargs or {}))


@special("*higher order")
def higher_order(plan: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Run an operator that takes functions as what it is composed of."""
    kernel = func.py_kernels.get(_Key.CompositeExplicitAutograd)
    if kernel is None:
        raise NotImplementedError(f"{func.name()} does not run on simulated GPUs")
    with modes.entered():
        return kernel(*args, **kwargs)
